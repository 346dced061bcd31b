// SPDX-License-Identifier: Apache-2.0
//
// Everything a host program needs.
#ifndef BACKPLANE_BACKPLANE_H_
#define BACKPLANE_BACKPLANE_H_

#include "backplane/device.h"
#include "backplane/dlpack.h"
#include "backplane/fuse.h"
#include "backplane/io.h"
#include "backplane/kernel.h"
#include "backplane/nn.h"
#include "backplane/ops.h"
#include "backplane/random.h"
#include "backplane/runtime.h"
#include "backplane/stream.h"
#include "backplane/tensor.h"
#include "backplane/version.h"

#endif  // BACKPLANE_BACKPLANE_H_
