#include <algorithm>
#include <map>
#include <mutex>

#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include "executor/device/memory_fraction.h"

namespace hopscope::executor {

bool limitCudaMemory(c10::DeviceIndex device, std::int64_t bytes)
{
    at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
    c10::cuda::CUDACachingAllocator::CUDAAllocator* const allocator = c10::cuda::CUDACachingAllocator::get();
    static std::mutex mutex;  // each GPU of a run has a thread of its own
    const std::lock_guard lock(mutex);
    static std::map<c10::DeviceIndex, double> allowed;  // by the user, in PYTORCH_CUDA_ALLOC_CONF
    const double most = allowed.try_emplace(device, allocator->getMemoryFraction(device)).first->second;
    const auto total = static_cast<double>(allocator->getMemoryInfo(device).second);
    const double fraction = bytes > 0 && total > 0 ? static_cast<double>(bytes) / total : most;
    allocator->setMemoryFraction(std::min(fraction, most), device);
    return true;
}

}  // namespace hopscope::executor
