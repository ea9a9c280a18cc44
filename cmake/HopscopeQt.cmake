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
  # Moc reads sources alone, which are there from the start; else it would wait for libraries, and what is compiled for it.
  set_target_properties(${target} PROPERTIES AUTOMOC ON AUTORCC ON AUTOGEN_ORIGIN_DEPENDS OFF)
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
  QTEST_FUNCTION_TIMEOUT=1500000 ${HOPSCOPE_SANITIZER_ENVIRONMENT})

# The program of all Qt tests, test_window (tests/support/qt_suites.h); window_tests is it with the programs that it starts,
# which nothing has to wait for while it is compiled.
function(hopscope_qt_test_program)
  add_executable(test_window ${CMAKE_SOURCE_DIR}/tests/support/qt_suites.cpp ${CMAKE_SOURCE_DIR}/tests/support/qt_suites.h)
  hopscope_options(test_window)
  hopscope_qt(test_window)
  target_include_directories(test_window PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(test_window PRIVATE hopscope_window_bed hopscope_drawn hopscope_graph_samples Qt6::Svg)
  add_custom_target(window_tests)
  add_dependencies(window_tests test_window hopscope hopscope-layout)
endfunction()

# hopscope_qt_test(NAME SOURCES ... ARGUMENTS ...)
# One CTest, which runs without a display what the sources register in test_window under that name. What several CTests run, or
# not every configuration, is added to test_window by target_sources.
function(hopscope_qt_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;ARGUMENTS" ${ARGN})
  target_sources(test_window PRIVATE ${arg_SOURCES})
  add_test(NAME ${name} COMMAND test_window ${name} ${arg_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES TIMEOUT 1800 ENVIRONMENT "${HOPSCOPE_OFFSCREEN}")
endfunction()

# hopscope_qt_bench(NAME SOURCE ARGUMENTS...): the same for times, in a table with goals, of something that runs alone.
function(hopscope_qt_bench name source)
  if(NOT HOPSCOPE_SANITIZE)
    hopscope_qt_test(${name} SOURCES ${source} ARGUMENTS ${ARGN})
    set_tests_properties(${name} PROPERTIES TIMEOUT 1800 RUN_SERIAL ON)
  endif()
endfunction()
