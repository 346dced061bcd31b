# SPDX-License-Identifier: Apache-2.0
# The headers are enough: the plugin opens the ICD loader when it runs.
find_path(BACKPLANE_OPENCL_INCLUDE_DIR CL/cl.h DOC "Folder of the OpenCL headers")
if(BACKPLANE_OPENCL_INCLUDE_DIR)
  set(opencl_FOUND ON)
else()
  set(opencl_MISSING "OpenCL headers not found: install opencl-headers")
endif()
