# Packages without Python, made by CPack (packaging/package.sh): a .deb and a .tar.xz of what the install rules install.
# packaging/bundle.sh adds the libraries.
set(CPACK_GENERATOR DEB TXZ)
set(CPACK_PACKAGE_NAME hopscope)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "The Hopscope authors")
set(CPACK_PACKAGE_CONTACT "The Hopscope authors <authors@hopscope.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "layer-wise inference for graph neural networks")
set(CPACK_PACKAGE_FILE_NAME hopscope-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_OUTPUT_FILE_PREFIX ${CMAKE_SOURCE_DIR}/dist)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/bundle.cmake)
set(CPACK_THREADS 0)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Hopscope runs graph neural networks layer by layer for all nodes of a
graph, in bounded memory, and verifies the results against the model
itself. It opens TorchScript files and exported programs of PyTorch.

The package contains the command line hopscope-engine, the window
hopscope, and PyTorch's C++ libraries for CPUs. It needs no Python.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "fonts-dejavu-core, fonts-inter")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "qt6-wayland")

# dpkg-shlibdeps looks there for the libraries that no package has.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
  ${CMAKE_BINARY_DIR}/_CPack_Packages/${CMAKE_SYSTEM_NAME}/DEB/${CPACK_PACKAGE_FILE_NAME}/usr/lib/hopscope)
include(CPack)
