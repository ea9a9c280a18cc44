#include <algorithm>
#include <mutex>

#include <c10/core/AllocatorConfig.h>
#include <c10/core/CachingDeviceAllocator.h>

#include "executor/device/memory_fraction.h"
#include "gpu/driver.h"

namespace hopscope::executor {

// The allocator reads the fraction when a device is initialised, and never again.
bool limitCudaMemory(c10::DeviceIndex device, std::int64_t bytes)
{
    static std::mutex mutex;  // each GPU of a run has a thread of its own
    const std::lock_guard lock(mutex);
    static bool taken = false;
    if (bytes == 0) return !taken;
    if (c10::getDeviceAllocator(c10::DeviceType::CUDA)->initialized()) return false;
    const gpu::Driver driver = gpu::readDriver();
    const auto at = static_cast<std::size_t>(device);
    if (at >= driver.gpus.size() || driver.gpus[at].memory <= 0) return false;
    const double fraction = static_cast<double>(bytes) / static_cast<double>(driver.gpus[at].memory);
    c10::CachingAllocator::setAllocatorSettings("per_process_memory_fraction:" +
                                                std::to_string(std::min(fraction, 1.0)));
    return taken = true;
}

}  // namespace hopscope::executor
