#include <doctest/doctest.h>

#include "executor/device/device_context.h"
#include "fake_device/on_device.h"

using namespace hopscope;
using namespace hopscope::fake_device;

namespace {

// Notes who asks for the device to be initialised, beside LibTorch's own allocations.
class Noting final : public executor::Accelerator {
public:
    [[nodiscard]] c10::DeviceType type() const override { return m_fake.type(); }
    [[nodiscard]] executor::GpuListing list() const override { return m_fake.list(); }
    void initialise() const override
    {
        allocationsBefore = counts().allocations;
        m_fake.initialise();
    }
    bool limitMemory(c10::DeviceIndex device, std::int64_t bytes) const override
    {
        return m_fake.limitMemory(device, bytes);
    }
    bool reaches(c10::DeviceIndex, c10::DeviceIndex) const override { return false; }
    [[nodiscard]] bool readsHostRows() const override { return m_fake.readsHostRows(); }
    int segment(const kernels::SegmentArguments& arguments, void* stream) const override
    {
        return m_fake.segment(arguments, stream);
    }
    int strips(const kernels::StripProgram& program, const kernels::StripArguments& arguments,
               void* stream) const override
    {
        return m_fake.strips(program, arguments, stream);
    }
    void uninstall() const { executor::replaceAccelerator(m_fake); }

    mutable std::optional<std::int64_t> allocationsBefore;  // of the device, when it was initialised

private:
    const executor::Accelerator& m_fake = executor::accelerator();
};

}  // namespace

// Of this program's files the first one: nothing has been initialised yet.
TEST_CASE_FIXTURE(Fresh, "Statistics are refused before the device is initialised, as a run does first")
{
    CHECK_THROWS_WITH_AS(stats(), doctest::Contains("did you call init?"), c10::Error);
    const Noting noting;
    executor::replaceAccelerator(noting);
    {
        executor::DeviceContext context("cuda");
        CHECK(noting.allocationsBefore == 0);
        CHECK(context.memory().current == workspaceBytes(0));
        CHECK(context.memory().current > 0);
        const at::Tensor one = context.upload(at::ones({1, 1}));
        const std::int64_t held = context.memory().current;
        CHECK(at::mm(one, one).defined());
        CHECK(context.memory().current == held);
    }
    noting.uninstall();
    CHECK(stats().allocated_bytes[0].current == workspaceBytes(0));
}
