#pragma once

// Private to executor: limits the memory that CUDA's caching allocator reserves, for which LibTorch has no
// device-neutral function.

#include <cstdint>

#include <c10/core/Device.h>

namespace hopscope::executor {

// Implements Accelerator::limitMemory. Built with a CUDA LibTorch, it can set the limit at any time; built with a
// LibTorch without CUDA, which lacks the headers, only before the device is initialised.
bool limitCudaMemory(c10::DeviceIndex device, std::int64_t bytes);

}  // namespace hopscope::executor
