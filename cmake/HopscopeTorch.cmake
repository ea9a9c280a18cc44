# LibTorch by direct targets: one file for CPU and CUDA wheels, no CUDA toolkit needed (TorchConfig would need one).
if(NOT HOPSCOPE_TORCH_ROOT)
  file(GLOB candidates ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
  list(APPEND candidates "")
  list(GET candidates 0 HOPSCOPE_TORCH_ROOT)
endif()
if(NOT EXISTS ${HOPSCOPE_TORCH_ROOT}/include/torch/script.h)
  message(FATAL_ERROR "LibTorch not found: run packaging/setup.sh, or name it with -DHOPSCOPE_TORCH_ROOT=")
endif()

# Its version: torch packages have version.py, LibTorch's archives build-version.
set(HOPSCOPE_TORCH_VERSION unknown)
foreach(file version.py build-version)
  if(EXISTS ${HOPSCOPE_TORCH_ROOT}/${file})
    file(STRINGS ${HOPSCOPE_TORCH_ROOT}/${file} lines REGEX "[0-9]+[.][0-9]+[.][0-9]+")
    string(REGEX MATCH "[0-9]+[.][0-9]+[.][0-9]+[^'\";]*" HOPSCOPE_TORCH_VERSION "${lines}")
    break()
  endif()
endforeach()

add_library(hopscope_libtorch INTERFACE)
target_include_directories(hopscope_libtorch SYSTEM INTERFACE
  ${HOPSCOPE_TORCH_ROOT}/include ${HOPSCOPE_TORCH_ROOT}/include/torch/csrc/api/include)
# libstdc++ goes first: some builds of LibTorch (the CUDA wheel of 2.11) export parts of std::filesystem that were linked into
# them without what they call, and the loader takes the first library that has a name.
target_link_libraries(hopscope_libtorch INTERFACE
  -Wl,--no-as-needed stdc++ ${HOPSCOPE_TORCH_ROOT}/lib/libtorch.so ${HOPSCOPE_TORCH_ROOT}/lib/libtorch_cpu.so
  ${HOPSCOPE_TORCH_ROOT}/lib/libc10.so -Wl,--as-needed Threads::Threads)
target_link_options(hopscope_libtorch INTERFACE -Wl,-rpath,${HOPSCOPE_TORCH_ROOT}/lib)
# at::parallel_for is a template: where it is compiled without OpenMP it runs on one thread. The runtime is the one that
# LibTorch has loaded.
target_compile_options(hopscope_libtorch INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp>)
target_link_options(hopscope_libtorch INTERFACE -fopenmp)
if(HOPSCOPE_SANITIZE MATCHES undefined)
  # It hides the type information of classes whose virtual functions its headers call.
  target_compile_options(hopscope_libtorch INTERFACE -fno-sanitize=vptr)
endif()

# The precompiled header of LibTorch's translation units.
add_library(hopscope_torch_pch OBJECT ${CMAKE_SOURCE_DIR}/cmake/torch_pch.cpp)
hopscope_options(hopscope_torch_pch)
target_link_libraries(hopscope_torch_pch PRIVATE hopscope_libtorch)
target_precompile_headers(hopscope_torch_pch PRIVATE <ATen/ATen.h>)
