#include <algorithm>

#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include "executor/memory_fraction.h"

namespace hopscope::executor {

bool limitCudaMemory(c10::DeviceIndex device, std::int64_t bytes)
{
    at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
    c10::cuda::CUDACachingAllocator::CUDAAllocator* const allocator = c10::cuda::CUDACachingAllocator::get();
    const auto total = static_cast<double>(allocator->getMemoryInfo(device).second);
    const double fraction = bytes > 0 && total > 0 ? static_cast<double>(bytes) / total : 1.0;
    allocator->setMemoryFraction(std::min(fraction, 1.0), device);
    return true;
}

}  // namespace hopscope::executor
