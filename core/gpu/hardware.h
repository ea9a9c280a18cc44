#pragma once

// Private to gpu: reads information from the kernel's files, without any library of the driver.

#include <string>

#include "gpu/driver.h"

namespace hopscope::gpu {

// Returns the number of NVIDIA GPUs. It is the largest of the counts by the driver's files, the PCI bus and the device
// files, because a container may hide any of these.
int countHardware(const Places& places);

// Returns whether the driver's kernel module is loaded. Sets `version` if it can be read.
bool readKernelModule(const Places& places, std::string& version);

}  // namespace hopscope::gpu
