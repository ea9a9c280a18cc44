#pragma once

// Private to executor: a limit for what CUDA's caching allocator reserves. LibTorch has no device-neutral call for it.

#include <cstdint>

#include <c10/core/Device.h>

namespace hopscope::executor {

// As Accelerator::limitMemory. Builds against a CUDA LibTorch set the limit at any time; others (whose LibTorch has no
// headers for it) only before the device is initialised.
bool limitCudaMemory(c10::DeviceIndex device, std::int64_t bytes);

}  // namespace hopscope::executor
