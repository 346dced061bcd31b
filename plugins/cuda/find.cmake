# SPDX-License-Identifier: Apache-2.0
find_package(CUDAToolkit QUIET)
if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE)
  set(cuda_FOUND ON)
else()
  set(cuda_MISSING "nvcc not found: install NVIDIA's CUDA Toolkit, under /usr/local/cuda or with its bin folder on PATH")
endif()
