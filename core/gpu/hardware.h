#pragma once

// Private to gpu: information in the kernel's files, read without any library of the driver.

#include <string>

#include "gpu/driver.h"

namespace hopscope::gpu {

// By the driver's files, the PCI bus and the device files: one of them may be hidden in a container.
int countHardware(const Places& places);

// Whether the driver's kernel module is there, and its version where it can be read.
bool readKernelModule(const Places& places, std::string& version);

}  // namespace hopscope::gpu
