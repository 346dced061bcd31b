# SPDX-License-Identifier: Apache-2.0
find_package(OpenCL QUIET)
if(OpenCL_FOUND)
  set(opencl_FOUND ON)
else()
  set(opencl_MISSING "OpenCL headers or ICD loader not found: install opencl-headers and ocl-icd-opencl-dev")
endif()
