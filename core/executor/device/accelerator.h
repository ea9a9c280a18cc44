#pragma once

// Declares the accelerator functions that the executor needs but LibTorch's device-neutral API does not offer. There is
// one implementation, for CUDA; all other code uses the device-neutral API with `accelerator().type()`, so that tests
// can use another device type instead of CUDA.

#include <cstdint>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "executor/executor.h"
#include "kernels/segment.h"
#include "kernels/strip.h"

namespace hopscope::executor {

class Accelerator {
public:
    virtual ~Accelerator() = default;

    // LibTorch's device type of "cuda:N".
    [[nodiscard]] virtual c10::DeviceType type() const = 0;
    // Returns the devices that can be used, and the reasons why others cannot. Allocates no memory on any device.
    [[nodiscard]] virtual GpuListing list() const = 0;
    // Initialises LibTorch for the device type, if that has not been done. Throws c10::Error if the driver fails.
    virtual void initialise() const = 0;
    // Limits the bytes that the process may reserve on a device; 0 restores the user's own limit. Returns false if this
    // LibTorch accepts a limit only before the first allocation, which has already happened; the executor then checks
    // the reserved bytes itself.
    virtual bool limitMemory(c10::DeviceIndex device, std::int64_t bytes) const = 0;
    // Returns whether a device can write to the memory of another one.
    [[nodiscard]] virtual bool reaches(c10::DeviceIndex from, c10::DeviceIndex to) const = 0;
    // Returns whether kernels can read pinned memory of the host, which requires that they were built.
    [[nodiscard]] virtual bool readsHostRows() const = 0;
    // Calls kernels::segmentCuda, or its replacement in tests, on the current device.
    virtual int segment(const kernels::SegmentArguments& arguments, void* stream) const = 0;
    // The same for kernels::stripCuda.
    virtual int strips(const kernels::StripProgram& program, const kernels::StripArguments& arguments,
                       void* stream) const = 0;
};

// Returns the accelerator in use: CUDA, unless it was replaced.
const Accelerator& accelerator();

// Replaces the accelerator in tests. Call it before any device is used; `other` must live as long as the process.
void replaceAccelerator(const Accelerator& other);

}  // namespace hopscope::executor
