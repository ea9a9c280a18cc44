#pragma once

// Private to gpu: information in the kernel's files, read without any library of the driver.

#include <string>

#include "gpu/driver.h"

namespace hopscope::gpu {

// Counts by the driver's files, the PCI bus and the device files: any of them may be hidden in a container.
int countHardware(const Places& places);

// True if the driver's kernel module is loaded, and its version if it can be read.
bool readKernelModule(const Places& places, std::string& version);

}  // namespace hopscope::gpu
