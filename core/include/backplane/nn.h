// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_NN_H_
#define BACKPLANE_NN_H_

#include "backplane/nn/init.h"
#include "backplane/nn/layers.h"
#include "backplane/nn/module.h"
#include "backplane/nn/parallel.h"

#endif  // BACKPLANE_NN_H_
