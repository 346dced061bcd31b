// SPDX-License-Identifier: Apache-2.0
//
// The one place where the driver's result codes become Status. The message names the call, the driver's own
// name for the code and its text; `vendor_code` is the CUresult.
#ifndef BACKPLANE_PLUGINS_CUDA_ERROR_H_
#define BACKPLANE_PLUGINS_CUDA_ERROR_H_

#include <cuda.h>

#include "backplane/plugin/base.h"

namespace backplane::cuda {

using plugin::kOk;
using plugin::make_status;
using plugin::Status;
using plugin::StatusCode;

// `detail`, where there is one, is appended ("asked for 12 bytes"); it may be null.
Status status_of(CUresult result, const char* call, const char* detail = nullptr) noexcept;

// Whether the failure has left the context unusable for the rest of the process.
bool is_sticky(CUresult result) noexcept;

// Why cuInit failed, in words that a person can act on.
Status initialisation_failure(CUresult result) noexcept;

}  // namespace backplane::cuda

// Returns from the enclosing function when `expression`, a Status, is a failure.
#define BACKPLANE_TRY(expression)                                                                         \
  do {                                                                                                    \
    if (const ::backplane::plugin::Status try_status = (expression); !try_status.ok()) return try_status; \
  } while (false)

// Calls a driver function in a Context and returns from the enclosing function when it fails.
#define BACKPLANE_CU(context, function, ...) BACKPLANE_TRY((context).check(function(__VA_ARGS__), #function))

#endif  // BACKPLANE_PLUGINS_CUDA_ERROR_H_
