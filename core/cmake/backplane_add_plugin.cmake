# SPDX-License-Identifier: Apache-2.0
# Installed with the package: works for this project's own plugins and for yours.
#
#   backplane_add_plugin(name
#     SOURCES file...            what to compile
#     [LIBS target...]           what to link besides backplane::plugin
#     [INCLUDES folder...]       [DEFINITIONS NAME=value...]
#     [OUTPUT_NAME name]         file name without .so; the target's name if not given
#     [OUTPUT_DIR folder]        where the build puts it: with this project's plugins, or in the current binary folder
#     [NO_INSTALL])              no install rule; else installed to <libdir>/backplane/plugins
#
# Makes a module `name.so` that exports the symbol `backplane_plugin` and nothing else, is never unloaded, has no
# undefined symbols, and finds libraries that lie beside it.

set(BACKPLANE_PLUGIN_MAP ${CMAKE_CURRENT_LIST_DIR}/plugin.map CACHE INTERNAL "Version script of every plugin")

function(backplane_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_INSTALL" "OUTPUT_NAME;OUTPUT_DIR" "SOURCES;LIBS;INCLUDES;DEFINITIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "backplane_add_plugin(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "backplane_add_plugin(${name}): SOURCES is empty")
  endif()
  if(NOT arg_OUTPUT_NAME)
    set(arg_OUTPUT_NAME ${name})
  endif()
  if(NOT arg_OUTPUT_DIR)
    set(arg_OUTPUT_DIR ${CMAKE_CURRENT_BINARY_DIR})
    if(BACKPLANE_PLUGIN_OUTPUT_DIR)
      set(arg_OUTPUT_DIR ${BACKPLANE_PLUGIN_OUTPUT_DIR})
    endif()
  endif()
  set(no_undefined -Wl,-z,defs)
  if(DEFINED BACKPLANE_LINK_DEFS)
    set(no_undefined ${BACKPLANE_LINK_DEFS})
  endif()

  add_library(${name} MODULE ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE backplane::plugin ${arg_LIBS})
  target_include_directories(${name} PRIVATE ${arg_INCLUDES})
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS})
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-ffp-contract=off>)
  target_link_options(${name} PRIVATE ${no_undefined} -Wl,-z,nodelete -Wl,--version-script=${BACKPLANE_PLUGIN_MAP})
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX .so OUTPUT_NAME ${arg_OUTPUT_NAME} LIBRARY_OUTPUT_DIRECTORY ${arg_OUTPUT_DIR}
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${BACKPLANE_PLUGIN_MAP} INSTALL_RPATH $ORIGIN BUILD_WITH_INSTALL_RPATH ON)

  if(NOT arg_NO_INSTALL)
    include(GNUInstallDirs)
    install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/backplane/plugins)
  endif()
endfunction()
