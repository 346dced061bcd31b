# SPDX-License-Identifier: Apache-2.0
# Where things are put: in the build folder as in the installed package, so that programs find libraries and core
# finds plugins by the same relative paths in both.

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

set(BACKPLANE_PLUGIN_OUTPUT_DIR ${PROJECT_BINARY_DIR}/lib/backplane/plugins)
set(BACKPLANE_PLUGIN_INSTALL_DIR ${CMAKE_INSTALL_LIBDIR}/backplane/plugins)
set(BACKPLANE_CMAKE_INSTALL_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/backplane)
# Plugins that exist only for tests and as examples; never searched unless a test says so.
set(BACKPLANE_TEST_PLUGIN_DIR ${PROJECT_BINARY_DIR}/test-plugins)

set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
file(RELATIVE_PATH to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(CMAKE_INSTALL_RPATH $ORIGIN/${to_lib})
