# SPDX-License-Identifier: Apache-2.0
# How everything in this project is compiled. Directory-wide, so that no target can forget it.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# Compilers fuse a*b+c where they may, and then devices differ: contraction is off everywhere.
add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-ffp-contract=off>)

add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-Wall> $<$<COMPILE_LANGUAGE:C,CXX>:-Wextra>
                    $<$<COMPILE_LANGUAGE:C,CXX>:-Wpedantic>)
if(BACKPLANE_WERROR)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()

# clang's sanitizer runtimes are resolved at run time, which excludes -z defs.
set(BACKPLANE_LINK_DEFS -Wl,-z,defs)
if(BACKPLANE_SANITIZE)
  if(NOT BACKPLANE_SANITIZE MATCHES "^(address|undefined|thread)$")
    message(FATAL_ERROR "BACKPLANE_SANITIZE is '${BACKPLANE_SANITIZE}'; it may be address, undefined or thread")
  endif()
  set(sanitize -fsanitize=${BACKPLANE_SANITIZE} -fno-omit-frame-pointer)
  if(BACKPLANE_SANITIZE STREQUAL "undefined")
    # vptr needs type information across the plugin boundary, where everything is hidden.
    list(APPEND sanitize -fno-sanitize=vptr -fno-sanitize-recover=all)
  endif()
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${sanitize}>")
  add_link_options(${sanitize})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(BACKPLANE_LINK_DEFS "")
  endif()
endif()

if(BACKPLANE_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this sloppiness ccache never hits a file that uses a precompiled header.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${launcher})
endif()
