# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)

install(TARGETS backplane EXPORT backplaneTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS backplane_plugin_headers EXPORT backplaneTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/core/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The folder is there, and belongs to the package, even where no plugin was built.
install(DIRECTORY DESTINATION ${BACKPLANE_PLUGIN_INSTALL_DIR})

install(EXPORT backplaneTargets NAMESPACE backplane:: DESTINATION ${BACKPLANE_CMAKE_INSTALL_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/backplaneConfig.cmake.in
  ${PROJECT_BINARY_DIR}/backplaneConfig.cmake INSTALL_DESTINATION ${BACKPLANE_CMAKE_INSTALL_DIR}
  PATH_VARS BACKPLANE_PLUGIN_INSTALL_DIR)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/backplaneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/backplaneConfig.cmake ${PROJECT_BINARY_DIR}/backplaneConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/backplane_add_plugin.cmake ${CMAKE_CURRENT_LIST_DIR}/plugin.map
        DESTINATION ${BACKPLANE_CMAKE_INSTALL_DIR})

# Relative to its own place, so that the installed tree may be moved.
file(RELATIVE_PATH to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/backplane.pc.in ${PROJECT_BINARY_DIR}/backplane.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/backplane.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
