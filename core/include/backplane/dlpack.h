// SPDX-License-Identifier: Apache-2.0
//
// Exchange of tensors with other libraries in one process (NumPy, PyTorch, CuPy, ...) through DLPack, without
// a copy. bool is Unimplemented unless the library was built with DLPack 1.0 or later.
#ifndef BACKPLANE_DLPACK_H_
#define BACKPLANE_DLPACK_H_

#include "backplane/tensor.h"

struct DLManagedTensor;  // of <dlpack/dlpack.h>

namespace backplane::inline v0 {

// A view of the tensor's memory that keeps it alive until the consumer calls its deleter (from any thread).
// All work on the tensor is done when this returns; later work of ours on the same memory needs
// Device::synchronize before the consumer looks again. Read-only tensors are InvalidArgument, as DLPack 0.x
// cannot say so.
BACKPLANE_API ::DLManagedTensor* to_dlpack(const Tensor& tensor);

// Takes the tensor over, even when it fails: its deleter is called when the last tensor that uses the memory
// is gone. The producer's work on it must be done. NotFound when there is no device for the memory,
// InvalidArgument for what is not an element type here. Memory that is not aligned for its type is copied.
BACKPLANE_API Tensor from_dlpack(::DLManagedTensor* managed);

}  // namespace backplane::inline v0

#endif  // BACKPLANE_DLPACK_H_
