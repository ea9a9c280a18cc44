#pragma once

// Where the executor's device type comes from. GPUs are CUDA's; everything that differs from device to device and that
// LibTorch has no common call for stands behind this interface. The rest of the executor asks LibTorch's device-neutral
// calls with `accelerator().type()`, so that tests can put another device type in CUDA's place.

#include <cstdint>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "executor/executor.h"
#include "kernels/segment.h"

namespace hopscope::executor {

class Accelerator {
public:
    virtual ~Accelerator() = default;

    // LibTorch's device type of "cuda:N".
    [[nodiscard]] virtual c10::DeviceType type() const = 0;
    // What is there and can be used, and why the rest cannot. Takes no memory on any device.
    [[nodiscard]] virtual GpuListing list() const = 0;
    // Makes LibTorch ready for its first call on a device; at once where it is. Throws c10::Error where the driver fails.
    virtual void initialise() const = 0;
    // Bytes that the process may reserve on a device from now on; 0: as many as there are. False if this LibTorch takes a
    // limit only before its first allocation and that has been: the executor then watches the reserved bytes itself.
    virtual bool limitMemory(c10::DeviceIndex device, std::int64_t bytes) const = 0;
    // kernels::segmentCuda or what stands for it, on the device that is current.
    virtual int segment(const kernels::SegmentArguments& arguments, void* stream) const = 0;
};

// CUDA, unless it was replaced.
const Accelerator& accelerator();

// For tests, before any device is used; `other` lives as long as the process.
void replaceAccelerator(const Accelerator& other);

}  // namespace hopscope::executor
