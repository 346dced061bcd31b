// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_OPS_H_
#define BACKPLANE_OPS_H_

#include "backplane/ops/elementwise.h"
#include "backplane/ops/linalg.h"
#include "backplane/ops/manipulation.h"
#include "backplane/ops/reduction.h"
#include "backplane/ops/rowwise.h"
#include "backplane/ops/sorting.h"

#endif  // BACKPLANE_OPS_H_
