# Where nvcc may be besides PATH: CUDA_HOME, the usual folders, and NVIDIA's Python packages, which packaging/setup.sh puts
# below .venv. A compiler that was named (CMAKE_CUDA_COMPILER, CUDACXX) is left as it is.
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  file(GLOB nvcc_folders LIST_DIRECTORIES true
    /usr/local/cuda/bin /opt/cuda/bin /usr/local/cuda-*/bin
    ${CMAKE_SOURCE_DIR}/.venv/cuda/nvidia/*/bin ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/*/bin)
  find_program(HOPSCOPE_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin PATHS ${nvcc_folders})
  mark_as_advanced(HOPSCOPE_NVCC)
  if(HOPSCOPE_NVCC)
    set(CMAKE_CUDA_COMPILER ${HOPSCOPE_NVCC})
  endif()
endif()
