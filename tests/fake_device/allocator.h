#pragma once

// Private to the fake device: what LibTorch asks for memory.

#include <c10/core/CachingDeviceAllocator.h>

namespace hopscope::fake_device {

c10::DeviceAllocator& allocator();

// LibTorch's first call on a device; statistics are refused before.
void initialise();
bool initialised();

void registerAllocator();

}  // namespace hopscope::fake_device
