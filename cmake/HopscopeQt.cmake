# The window's targets. Qt is seen by widgets/ and app/hopscope alone; LibTorch never meets it.
find_package(Qt6 6.4 COMPONENTS Widgets Svg PrintSupport Test REQUIRED)
find_package(QCustomPlotQt6 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(GRAPHVIZ REQUIRED IMPORTED_TARGET libcgraph libgvc)

# What uses Qt, and its precompiled header, is compiled under sanitizers without optimisation and without checks of addresses
# and casts, which takes half of the time.
function(hopscope_qt_sanitizers target)
  if(HOPSCOPE_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
  if(HOPSCOPE_SANITIZE MATCHES undefined)
    target_compile_options(${target} PRIVATE -fno-sanitize=alignment,vptr)
  endif()
endfunction()

# Common settings of everything that uses Qt; one precompiled header for all of it.
function(hopscope_qt target)
  hopscope_qt_sanitizers(${target})
  set_target_properties(${target} PROPERTIES AUTOMOC ON AUTORCC ON)
  target_link_libraries(${target} PUBLIC Qt6::Widgets)
  if(TARGET hopscope_qt_pch)
    target_precompile_headers(${target} REUSE_FROM hopscope_qt_pch)
  endif()
endfunction()

# hopscope_widget(NAME SOURCES ... DEPENDS widget modules ... CORE core modules ... LIBRARIES targets ...)
# One static library per module, hopscope_w_NAME. Its include root is widgets/, so that every include names its module.
function(hopscope_widget name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;CORE;LIBRARIES" ${ARGN})
  set(target hopscope_w_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  hopscope_options(${target})
  hopscope_qt(${target})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/widgets)
  foreach(module ${arg_DEPENDS})
    target_link_libraries(${target} PUBLIC hopscope_w_${module})
  endforeach()
  foreach(module ${arg_CORE})
    target_link_libraries(${target} PUBLIC hopscope_${module})
  endforeach()
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
endfunction()

# The environment of programs that need no display.
set(HOPSCOPE_OFFSCREEN QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR=${CMAKE_BINARY_DIR}/runtime HOME=${CMAKE_BINARY_DIR}/home
  ${HOPSCOPE_SANITIZER_ENVIRONMENT})

# hopscope_qt_test(NAME SOURCES ... WIDGETS widget modules ... CORE core modules ... LIBRARIES targets ...)
# A Qt Test program that runs without a display.
function(hopscope_qt_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;WIDGETS;CORE;LIBRARIES" ${ARGN})
  set(target test_${name})
  add_executable(${target} ${arg_SOURCES})
  hopscope_options(${target})
  hopscope_qt(${target})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  foreach(module ${arg_WIDGETS})
    target_link_libraries(${target} PRIVATE hopscope_w_${module})
  endforeach()
  foreach(module ${arg_CORE})
    target_link_libraries(${target} PRIVATE hopscope_${module})
  endforeach()
  target_link_libraries(${target} PRIVATE Qt6::Test ${arg_LIBRARIES})
  add_test(NAME ${name} COMMAND ${target})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 ENVIRONMENT "${HOPSCOPE_OFFSCREEN}")
endfunction()
