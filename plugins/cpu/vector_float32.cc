// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set; see isa.h for what that forbids.
#define BACKPLANE_FLOAT 32
#define BACKPLANE_FLOAT_DTYPE Float32
#define BACKPLANE_FLOAT_TABLE float32_loops
#include "cpu/vector_float.h"
