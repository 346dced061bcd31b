# SPDX-License-Identifier: Apache-2.0
include(GoogleTest)

# gtest and the heavy standard headers, compiled once for every test.
add_executable(backplane_test_pch pch.cc)
target_link_libraries(backplane_test_pch PRIVATE GTest::gmock_main)
target_precompile_headers(backplane_test_pch PRIVATE
  <gtest/gtest.h> <gmock/gmock.h> <algorithm> <cmath> <cstdint> <filesystem> <fstream> <functional> <map> <memory>
  <random> <sstream> <string> <string_view> <thread> <vector>)
set_target_properties(backplane_test_pch PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})

#   backplane_add_test(name
#     SOURCES file...        what to compile; main() comes from GoogleTest
#     [LIBS target...]       instead of backplane::backplane; backplane_internal has nothing hidden
#     [LABELS label...]      for ctest -L; the folder's name is always one
#     [ENV NAME=value...]    environment of every case
#     [DEFINITIONS ...] [DEPENDS target...]
#     [TIMEOUT seconds]      per case; 120 if not given
#     [WHOLE] [LONG] [SERIAL])
#
# Builds one GoogleTest program and registers each of its cases with ctest, or with WHOLE the program as one test.
# LONG: only with BACKPLANE_LONG_TESTS. SERIAL: never beside another test.
# Cases see no BACKPLANE_ variable but those in ENV, whatever the developer's shell has set.
function(backplane_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WHOLE;LONG;SERIAL" "TIMEOUT" "SOURCES;LIBS;LABELS;ENV;DEFINITIONS;DEPENDS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "backplane_add_test(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(arg_LONG AND NOT BACKPLANE_LONG_TESTS)
    return()
  endif()
  if(NOT arg_LIBS)
    set(arg_LIBS backplane::backplane)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()

  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gmock_main)
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS})
  target_precompile_headers(${name} REUSE_FROM backplane_test_pch)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/tests)
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()

  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(labels ${folder} ${arg_LABELS})
  list(REMOVE_DUPLICATES labels)
  if(arg_WHOLE)
    add_test(NAME ${name} COMMAND ${name})
    set(tests ${name})
  else()
    gtest_discover_tests(${name} TEST_PREFIX ${name}. TEST_LIST ${name}_cases DISCOVERY_MODE PRE_TEST
      DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${arg_TIMEOUT})
    set(tests "\${${name}_cases}")
  endif()

  # ctest reads this file after it has listed the cases: lists among the properties survive no other way.
  set(properties ${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake)
  set(environment ${BACKPLANE_TEST_ENVIRONMENT})
  foreach(variable IN LISTS arg_ENV)
    string(REGEX REPLACE "^([^=]*)=(.*)$" "\\1=set:\\2" modification "${variable}")
    list(APPEND environment "${modification}")
  endforeach()
  file(CONFIGURE OUTPUT ${properties} @ONLY CONTENT [==[
foreach(test IN LISTS @name@_cases)
  set_tests_properties("${test}" PROPERTIES LABELS "@labels@" TIMEOUT @arg_TIMEOUT@
    ENVIRONMENT_MODIFICATION "@environment@" RUN_SERIAL @arg_SERIAL@)
endforeach()
]==])
  if(arg_WHOLE)
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${arg_TIMEOUT}
      ENVIRONMENT_MODIFICATION "${environment}" RUN_SERIAL ${arg_SERIAL})
  else()
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${properties})
  endif()
endfunction()

# What a developer's shell may hold and no test may see.
set(BACKPLANE_TEST_ENVIRONMENT BACKPLANE_PLUGIN_PATH=unset: BACKPLANE_CPU_DEVICES=unset: BACKPLANE_CACHE_DIR=unset:
  BACKPLANE_OPENCL_SUBDEVICES=unset: BACKPLANE_OPENCL_CACHE=unset: BACKPLANE_TRACE=unset:
  BACKPLANE_OPENCL_CACHE_DIR=set:${PROJECT_BINARY_DIR}/opencl-cache
  POCL_CACHE_DIR=set:${PROJECT_BINARY_DIR}/pocl-cache)  # nothing is left in the home folder
if(BACKPLANE_SANITIZE STREQUAL "address")
  # PoCL's LLVM puts a signal stack of its own in place of AddressSanitizer's, which fails to free that one. What
  # g++ 12's libasan believes of thread-local storage in loaded libraries makes LeakSanitizer read wild addresses.
  list(APPEND BACKPLANE_TEST_ENVIRONMENT ASAN_OPTIONS=set:use_sigaltstack=0:detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1:intercept_tls_get_addr=0
    LSAN_OPTIONS=set:print_suppressions=0:suppressions=${CMAKE_CURRENT_SOURCE_DIR}/lsan.suppressions)
elseif(BACKPLANE_SANITIZE STREQUAL "undefined")
  list(APPEND BACKPLANE_TEST_ENVIRONMENT UBSAN_OPTIONS=set:print_stacktrace=1)
elseif(BACKPLANE_SANITIZE STREQUAL "thread")
  list(APPEND BACKPLANE_TEST_ENVIRONMENT
    TSAN_OPTIONS=set:halt_on_error=1:allocator_may_return_null=1:suppressions=${CMAKE_CURRENT_SOURCE_DIR}/tsan.suppressions)
endif()
