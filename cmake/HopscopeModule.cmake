# hopscope_module(NAME SOURCES ... TORCH_SOURCES ... DEPENDS modules ... LIBRARIES targets ... FAST sources ... COLD)
# One static library per module, hopscope_NAME. Its include root is core/, so that every include names its module.
# Modules with TORCH_SOURCES, which see LibTorch, link it. FAST names those of the sources that have loops over rows.
# COLD: hopscope_cold.
function(hopscope_module name)
  cmake_parse_arguments(arg "COLD" "" "SOURCES;TORCH_SOURCES;FAST;DEPENDS;LIBRARIES" ${ARGN})
  set(target hopscope_${name})
  if(arg_SOURCES OR arg_TORCH_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    hopscope_options(${target})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  if(arg_COLD)
    hopscope_cold(${target})
  endif()
  target_include_directories(${target} ${scope} ${CMAKE_SOURCE_DIR}/core)
  foreach(module ${arg_DEPENDS})
    target_link_libraries(${target} ${scope} hopscope_${module})
  endforeach()
  if(arg_LIBRARIES)
    target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  endif()
  if(arg_FAST AND NOT HOPSCOPE_SANITIZE)
    set_property(SOURCE ${arg_FAST} APPEND PROPERTY COMPILE_OPTIONS -O3)
  endif()
  hopscope_torch(${target} ${arg_TORCH_SOURCES})
endfunction()

# Off: what GCC 12 warns of in error after inlining std::string, std::vector and std::optional. Clang-tidy and the sanitizers
# look for the same mistakes.
set(hopscope_false_warnings maybe-uninitialized restrict stringop-overflow stringop-overread array-bounds
  free-nonheap-object use-after-free dangling-pointer null-dereference)
list(TRANSFORM hopscope_false_warnings PREPEND -Wno-)

# GCC collects garbage from 128 MiB on, and goes through the whole of a precompiled header each time: up to a tenth of its time.
set(hopscope_compiler_memory $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>)

function(hopscope_options target)
  set(warnings -Wall -Wextra -Wshadow -Wnon-virtual-dtor ${hopscope_false_warnings})
  if(HOPSCOPE_UNITY)
    list(APPEND warnings -Wno-subobject-linkage)  # GCC takes a source that is included for a header
  endif()
  if(HOPSCOPE_WERROR)
    list(APPEND warnings -Werror)
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>" ${hopscope_compiler_memory})
  if(HOPSCOPE_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${HOPSCOPE_SANITIZE} -fno-omit-frame-pointer
      -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${HOPSCOPE_SANITIZE})
  endif()
  if(HOPSCOPE_SANITIZE MATCHES address.*undefined)
    # AddressSanitizer finds these as well; about a fifth of the time of compiling.
    target_compile_options(${target} PRIVATE -fno-sanitize=null,object-size,nonnull-attribute)
  endif()
endfunction()

# For code that runs for a small part of the time, and for tests: -Og compiles in two thirds of the time of -O2, and takes the same
# precompiled headers.
function(hopscope_cold target)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Og>)
endfunction()

# hopscope_torch(TARGET sources ...)
# Adds sources that see LibTorch, if there are any, with the precompiled header of its tensors: a compiler takes 1 s to read it.
# TorchScript's own headers are read on top, in 3 s; a second precompiled header with those would cost more than it spares.
# Other sources of the target read neither.
function(hopscope_torch target)
  if(NOT ARGN)
    return()
  endif()
  set(header ${CMAKE_BINARY_DIR}/CMakeFiles/hopscope_torch_pch.dir/cmake_pch.hxx)
  target_link_libraries(${target} PRIVATE hopscope_libtorch)
  target_sources(${target} PRIVATE ${ARGN})
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -Winvalid-pch -include ${header})
  set_property(SOURCE ${ARGN} APPEND PROPERTY OBJECT_DEPENDS ${header}.gch)
  add_dependencies(${target} hopscope_torch_pch)
endfunction()

# The environment of all tests under sanitizers. What other libraries never give back is no leak of ours, and a request beyond
# all memory is refused, as it is without sanitizers, rather than a reason to end the program.
set(HOPSCOPE_SANITIZER_ENVIRONMENT)
if(HOPSCOPE_SANITIZE MATCHES address)
  set(HOPSCOPE_SANITIZER_ENVIRONMENT ASAN_OPTIONS=allocator_may_return_null=1
    LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/support/leaks_of_others.txt)
endif()

# hopscope_test_program(NAME): the doctest program test_NAME, made where its first test is.
function(hopscope_test_program name)
  if(NOT TARGET test_${name})
    add_executable(test_${name} $<TARGET_OBJECTS:hopscope_test_main>)
    hopscope_options(test_${name})
  endif()
endfunction()

# hopscope_test(NAME SOURCES ... TORCH_SOURCES ... DEPENDS modules ... LIBRARIES targets ...
#               PROGRAM name CASES pattern WITHOUT pattern)
# Compiles tests of the current folder as tests_NAME and links them into test_PROGRAM, which by default is the program of all
# folders of their kind (HOPSCOPE_TEST_PROGRAM). The CTest NAME runs the cases of the folder's files, or of those whose names
# match CASES, but for cases whose names match WITHOUT.
function(hopscope_test name)
  cmake_parse_arguments(arg "" "PROGRAM;CASES;WITHOUT" "SOURCES;TORCH_SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  list(APPEND arg_PROGRAM ${HOPSCOPE_TEST_PROGRAM})
  list(GET arg_PROGRAM 0 program)
  list(APPEND arg_CASES *)
  list(GET arg_CASES 0 cases)
  set(target tests_${name})
  add_library(${target} OBJECT ${arg_SOURCES})
  hopscope_options(${target})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/core ${CMAKE_SOURCE_DIR}/tests)
  list(TRANSFORM arg_DEPENDS PREPEND hopscope_)
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS} ${arg_LIBRARIES})
  # Assertions without handlers of exceptions, which end the case instead: a seventh of the time of compiling.
  target_compile_definitions(${target} PRIVATE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
  hopscope_cold(${target})
  hopscope_torch(${target} ${arg_TORCH_SOURCES})
  hopscope_test_program(${program})
  target_link_libraries(test_${program} PRIVATE ${target})
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  set(without)
  if(arg_WITHOUT)
    set(without "-tce=${arg_WITHOUT}")
  endif()
  add_test(NAME ${name} COMMAND test_${program} "-sf=*tests/${folder}/${cases}" ${without})
  set_tests_properties(${name} PROPERTIES TIMEOUT 1800 ENVIRONMENT "${HOPSCOPE_SANITIZER_ENVIRONMENT}")
endfunction()

# hopscope_tests_left_out(WHICH WHY): tests that this machine cannot run are named when it is configured. Where all of them
# are to be run (CI=true) that is an error.
function(hopscope_tests_left_out which why)
  if("$ENV{CI}" STREQUAL "true")
    message(FATAL_ERROR "Tests would be left out: ${which}: ${why}")
  endif()
  message(STATUS "Tests left out: ${which}: ${why}")
endfunction()
