// What the executor and LibTorch are told of the fake device.

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/DeviceType.h>

#include "executor/device/accelerator.h"
#include "fake_device/allocator.h"
#include "fake_device/guard.h"
#include "fake_device/launch.h"
#include "fake_device/memory.h"
#include "fake_device/operators.h"
#include "fake_device/pinned.h"

namespace hopscope::fake_device {

namespace {

struct Hooks final : at::PrivateUse1HooksInterface {
    bool isBuilt() const override { return true; }
    bool isAvailable() const override { return true; }
    bool hasPrimaryContext(c10::DeviceIndex) const override { return initialised(); }
    void init() const override { initialise(); }
    c10::DeviceIndex deviceCount() const override { return fake_device::deviceCount; }
    c10::DeviceIndex getCurrentDevice() const override { return static_cast<c10::DeviceIndex>(currentDevice()); }
    // Random numbers are drawn on the CPU: nothing depends on this one.
    const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override
    {
        static const at::Generator generator = at::detail::createCPUGenerator();
        return generator;
    }
    bool isPinnedPtr(const void* data) const override { return pinned().holds(data); }
    c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned(); }
};

executor::GpuListing bothDevices()
{
    executor::GpuListing listing;
    for (int i = 0; i < deviceCount; ++i) {
        const std::string index = std::to_string(i);
        listing.usable.push_back(
            {"cuda:" + index, "Fake GPU", state().totalMemory, "fake", "compute capability 0.0, CUDA 0.0"});
    }
    return listing;
}

class FakeAccelerator final : public executor::Accelerator {
public:
    c10::DeviceType type() const override { return deviceType; }
    executor::GpuListing list() const override
    {
        const Lock lock(mutex());
        return state().listing ? *state().listing : bothDevices();
    }
    void initialise() const override
    {
        checkAlive();
        at::globalContext().lazyInitDevice(deviceType);
    }
    bool limitMemory(c10::DeviceIndex device, std::int64_t bytes) const override
    {
        const Lock lock(mutex());
        memoryOf(device).setLimit(bytes);
        return true;
    }
    bool reaches(c10::DeviceIndex, c10::DeviceIndex) const override
    {
        const Lock lock(mutex());
        return state().peerAccess;
    }
    bool readsHostRows() const override { return true; }
    int segment(const kernels::SegmentArguments& arguments, void* stream) const override
    {
        return launchSegment(arguments, stream);
    }
    int strips(const kernels::StripProgram& program, const kernels::StripArguments& arguments,
               void* stream) const override
    {
        return launchStrips(program, arguments, stream);
    }
};

}  // namespace

void install()
{
    static const bool once = [] {
        c10::register_privateuse1_backend("fakegpu");
        registerGuard();
        registerAllocator();
        at::RegisterPrivateUse1HooksInterface(new Hooks);
        at::setHostAllocator(deviceType, &pinned());
        registerOperators();
        registerCells();
        registerFallback();
        executor::replaceAccelerator(*new FakeAccelerator);
        return true;
    }();
    (void)once;
}

}  // namespace hopscope::fake_device
