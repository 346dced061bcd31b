# SPDX-License-Identifier: Apache-2.0
# For backends whose compiler runs on the user's machine and takes text (OpenCL, NVRTC):
#
#   backplane_embed_kernels(target symbol header...)
#
# adds to `target` a source that defines `extern const char symbol[]`, the NUL-terminated text of the given headers of
# this folder ("scalar.h" "random.h") with all they include in place and without comments: one text for every language.

# Cached, since the functions below are called from other folders.
set(BACKPLANE_KERNELS_DIR ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "Where the formulas are")

function(backplane_flatten_kernels result header)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${BACKPLANE_KERNELS_DIR}/${header})
  file(READ ${BACKPLANE_KERNELS_DIR}/${header} text)
  string(REGEX REPLACE "(^|\n)//[^\n]*" "" text "${text}")
  string(REGEX MATCHALL "#include \"backplane/kernels/[a-z0-9_.]+\"" lines "${text}")
  list(REMOVE_DUPLICATES lines)
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ".*/(.*)\"" "\\1" included "${line}")
    backplane_flatten_kernels(inner ${included})
    string(REPLACE "${line}" "${inner}" text "${text}")
  endforeach()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(backplane_embed_kernels target symbol)
  set(all "")
  foreach(header IN LISTS ARGN)
    backplane_flatten_kernels(text ${header})
    string(APPEND all "${text}\n")
  endforeach()
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [==[
#pragma GCC diagnostic ignored "-Woverlength-strings"
extern const char @symbol@[];
const char @symbol@[] = R"backplane(@all@)backplane";
]==])
  target_sources(${target} PRIVATE ${output})
endfunction()
