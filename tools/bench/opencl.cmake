# SPDX-License-Identifier: Apache-2.0
# Straight at the boundary, against bare OpenCL and, where it is installed, CLBlast.
find_package(OpenCL QUIET)
if(TARGET backplane_opencl AND BACKPLANE_BUILD_TESTS AND OpenCL_FOUND)
  add_executable(backplane-bench-opencl ${CMAKE_CURRENT_LIST_DIR}/opencl_bench.cc)
  target_link_libraries(backplane-bench-opencl PRIVATE
    backplane_bench_pairs backplane_conformance_abi OpenCL::OpenCL ${CMAKE_DL_LIBS})
  set(cpu_plugin "")
  if(TARGET backplane_cpu)
    set(cpu_plugin "$<TARGET_FILE:backplane_cpu>")
    add_dependencies(backplane-bench-opencl backplane_cpu)
  endif()
  target_compile_definitions(backplane-bench-opencl PRIVATE OPENCL_PLUGIN="$<TARGET_FILE:backplane_opencl>"
    CPU_PLUGIN="${cpu_plugin}")
  add_dependencies(backplane-bench-opencl backplane_opencl)
endif()
