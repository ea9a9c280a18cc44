#pragma once

// Private to gpu: reads information from the kernel's files, without any library of the driver.

#include <string>

#include "gpu/driver.h"

namespace hopscope::gpu {

// Returns the number of NVIDIA GPUs: the largest count among the driver's files, the PCI bus and the device files, any
// of which may be hidden in a container.
int countHardware(const Places& places);

// Returns whether the driver's kernel module is loaded. Sets `version` if it can be read.
bool readKernelModule(const Places& places, std::string& version);

}  // namespace hopscope::gpu
