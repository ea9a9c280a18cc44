# Third-party libraries, each confined to one module. Headers come from the system or from HOPSCOPE_DEPS_DIR, a folder
# into which Debian packages were unpacked.
if(HOPSCOPE_DEPS_DIR)
  include_directories(SYSTEM ${HOPSCOPE_DEPS_DIR}/usr/include)
  file(GLOB multiarch ${HOPSCOPE_DEPS_DIR}/usr/lib/*-linux-gnu)
  list(PREPEND CMAKE_LIBRARY_PATH ${multiarch})
  list(PREPEND CMAKE_INCLUDE_PATH ${HOPSCOPE_DEPS_DIR}/usr/include)
  list(PREPEND CMAKE_PREFIX_PATH ${HOPSCOPE_DEPS_DIR}/usr)
  link_directories(${multiarch})
  add_link_options(-Wl,--disable-new-dtags)  # else the libraries that these need are not found
  foreach(folder ${multiarch})
    add_link_options(-Wl,-rpath,${folder})
  endforeach()
endif()

find_package(Threads REQUIRED)
find_path(HOPSCOPE_EXPECTED_INCLUDE tl/expected.hpp REQUIRED)
find_path(HOPSCOPE_JSON_INCLUDE nlohmann/json.hpp REQUIRED)

# HiGHS solves the integer programs of the optimiser, which does without where it is not found. Its own CMake package asks
# for BLAS, which the C interface does not need.
set(HOPSCOPE_HAS_HIGHS OFF)
file(GLOB highsbox ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/highsbox/highs_dist)
find_path(HOPSCOPE_HIGHS_INCLUDE interfaces/highs_c_api.h PATH_SUFFIXES highs HINTS ${highsbox}/include)
find_library(HOPSCOPE_HIGHS_LIBRARY highs HINTS ${highsbox}/lib)
if(HOPSCOPE_HIGHS AND HOPSCOPE_HIGHS_INCLUDE AND HOPSCOPE_HIGHS_LIBRARY)
  set(HOPSCOPE_HAS_HIGHS ON)
  add_library(hopscope_highs INTERFACE IMPORTED)
  target_include_directories(hopscope_highs SYSTEM INTERFACE ${HOPSCOPE_HIGHS_INCLUDE})
  target_link_libraries(hopscope_highs INTERFACE ${HOPSCOPE_HIGHS_LIBRARY})
  get_filename_component(highs_folder ${HOPSCOPE_HIGHS_LIBRARY} DIRECTORY)
  target_link_options(hopscope_highs INTERFACE -Wl,-rpath,${highs_folder})  # installed programs find it, too
endif()

find_program(HOPSCOPE_CCACHE ccache)
if(HOPSCOPE_CCACHE)
  set(sloppiness pch_defines,time_macros,include_file_mtime,include_file_ctime)
  # Relative to the checkout, so that another clone of it finds what this one compiled.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=${sloppiness} CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_NOHASHDIR=1 ${HOPSCOPE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${launcher})
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()

# Takes a fraction of the time of ld.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=mold HOPSCOPE_MOLD)
if(HOPSCOPE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

set(HOPSCOPE_HAS_CUDA OFF)
if(HOPSCOPE_CUDA)
  include(HopscopeNvcc)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    # A plain number gives machine code and PTX, so that newer GPUs compile what was made for the last one, which takes
    # seconds at first use. The compiler knows 120 from 12.8 on.
    set(architectures 75 80 90)
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
    foreach(newer 100 120)
      if(known MATCHES "compute_${newer}\n")
        list(APPEND architectures ${newer})
      endif()
    endforeach()
    set(CMAKE_CUDA_ARCHITECTURES ${architectures} CACHE STRING "GPU architectures")
    set(CMAKE_CUDA_STANDARD 20)
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)  # an eighth of the size; drivers of older ones may not unpack it
      string(APPEND CMAKE_CUDA_FLAGS " --compress-mode=size")
    endif()
    set(HOPSCOPE_HAS_CUDA ON)
  endif()
endif()

if(HOPSCOPE_TORCH)
  include(HopscopeTorch)
endif()
