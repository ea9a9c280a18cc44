#include <doctest/doctest.h>

#include "fake_device/on_device.h"

using namespace hopscope;
using namespace hopscope::fake_device;

namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * kib;

// Nothing is allocated, nothing is cached, and peaks count from now.
struct Empty : Fresh {
    Empty()
    {
        executor::accelerator().initialise();
        allocator()->emptyCache();
        for (int device = 0; device < deviceCount; ++device) {
            allocator()->resetPeakStats(static_cast<c10::DeviceIndex>(device));
            allocator()->resetAccumulatedStats(static_cast<c10::DeviceIndex>(device));
        }
    }
    ~Empty() { executor::accelerator().limitMemory(0, 0); }
    static c10::DeviceAllocator* allocator() { return c10::getDeviceAllocator(type()); }
    static at::Tensor take(std::int64_t bytes, int device = 0) { return at::empty({bytes}, on(device, at::kByte)); }
};

}  // namespace

TEST_CASE_FIXTURE(Empty, "Small blocks are cut from segments of 2 MiB, in units of 512 bytes")
{
    const at::Tensor a = take(1), b = take(513);
    CHECK(stats().allocated_bytes[0].current == 512 + 1024);
    CHECK(stats().requested_bytes[0].current == 514);
    CHECK(reserved() == 2 * mib);
    const at::Tensor c = take(mib), d = take(mib);
    CHECK(reserved() == 4 * mib);
    CHECK(reserved(1) == 0);
}

TEST_CASE_FIXTURE(Empty, "Larger blocks share segments of 20 MiB, and the largest have segments of their own")
{
    const at::Tensor a = take(mib + 1);
    CHECK(reserved() == 20 * mib);
    const at::Tensor b = take(9 * mib);
    CHECK(reserved() == 20 * mib);
    const at::Tensor c = take(10 * mib);  // 10 MiB less 512 bytes are left
    CHECK(reserved() == 30 * mib);
    const at::Tensor d = take(11 * mib + 1);
    CHECK(reserved() == 42 * mib);
    CHECK(stats().allocated_bytes[0].current == 32 * mib + 512);  // the last one is not split
}

TEST_CASE_FIXTURE(Empty, "The rest of a large block is only split off above 1 MiB")
{
    at::Tensor a = take(19 * mib);
    a.reset();
    CHECK(reserved() == 20 * mib);  // 19 MiB get a segment of 20
    const at::Tensor b = take(19 * mib);
    CHECK(stats().allocated_bytes[0].current == 20 * mib);
}

TEST_CASE_FIXTURE(Empty, "Of the free blocks the smallest that fits is taken, and neighbours become one")
{
    at::Tensor a = take(512 * kib), b = take(512), c = take(256 * kib), d = take(512);
    void* const at_ = c.data_ptr();
    a.reset();
    c.reset();
    const at::Tensor e = take(200 * kib);
    CHECK(e.data_ptr() == at_);
    b.reset();  // 512 KiB and 512 bytes are one now
    const at::Tensor f = take(512 * kib + 512);
    CHECK(reserved() == 2 * mib);
    CHECK(stats().allocated_bytes[0].current == 712 * kib + 1024);
}

TEST_CASE_FIXTURE(Empty, "Streams do not share free blocks")
{
    {
        const at::Tensor a = take(100);
    }
    const c10::StreamGuard guard(pooledStream());
    const at::Tensor b = take(100);
    CHECK(reserved() == 4 * mib);
}

TEST_CASE_FIXTURE(Empty, "Freed memory stays reserved until the cache is emptied")
{
    {
        const at::Tensor a = take(30 * mib);
    }
    CHECK(stats().allocated_bytes[0].current == 0);
    CHECK(stats().allocated_bytes[0].peak == 30 * mib);
    CHECK(stats().allocated_bytes[0].freed == 30 * mib);
    CHECK(reserved() == 30 * mib);
    CHECK(allocator()->getMemoryInfo(0).first == std::size_t((4 * kib - 30) * mib));
    allocator()->emptyCache();
    CHECK(reserved() == 0);
    CHECK(stats().reserved_bytes[0].peak == 30 * mib);
}

TEST_CASE_FIXTURE(Empty, "A block that another stream was recorded for is active until that stream has passed")
{
    setLatency({.kernelSeconds = 1});
    const c10::Stream other = pooledStream();
    at::Tensor a = take(100);
    a.record_stream(other);
    wait(other, defaultStream());
    {
        const c10::StreamGuard guard(other);
        a.fill_(1);
    }
    void* const before = a.data_ptr();
    a.reset();
    CHECK(stats().allocated_bytes[0].current == 0);
    CHECK(stats().active_bytes[0].current == 512);
    CHECK(take(100).data_ptr() != before);
    finish(other);
    CHECK(take(100).data_ptr() == before);
    CHECK(stats().active_bytes[0].current == 0);
}

TEST_CASE_FIXTURE(Empty, "Before memory is out, pending blocks and cached segments are given back")
{
    setTotalMemory(100 * mib);
    setLatency({.kernelSeconds = 1});
    const c10::Stream other = pooledStream();
    at::Tensor a = take(60 * mib);
    a.record_stream(other);
    wait(other, defaultStream());
    {
        const c10::StreamGuard guard(other);
        a.fill_(1);
    }
    a.reset();
    const at::Tensor b = take(80 * mib);
    CHECK(virtualSeconds() == 1);
    CHECK(stats().num_alloc_retries == 1);
    CHECK_THROWS_AS(take(21 * mib), c10::OutOfMemoryError);
    CHECK(stats().num_ooms == 1);
    CHECK(reserved() == 80 * mib);
}

TEST_CASE_FIXTURE(Empty, "The limit and what others have taken bound what is reserved")
{
    executor::accelerator().limitMemory(0, 50 * mib);
    const at::Tensor a = take(40 * mib);
    CHECK_THROWS_AS(take(12 * mib), c10::OutOfMemoryError);
    CHECK_NOTHROW(take(10 * mib));
    takeByOthers(1, (4 * kib - 40) * mib);
    CHECK(allocator()->getMemoryInfo(1).first == std::size_t(40 * mib));
    CHECK_THROWS_AS(take(42 * mib, 1), c10::OutOfMemoryError);
    CHECK_NOTHROW(take(40 * mib, 1));
}

namespace {

struct Listener final : c10::MemoryReportingInfoBase {
    std::vector<std::int64_t> sizes;
    std::size_t allocated = 0, reserved = 0;
    c10::Device device = at::kCPU;

    void reportMemoryUsage(void*, std::int64_t size, std::size_t all, std::size_t kept, c10::Device where) override
    {
        sizes.push_back(size);
        allocated = all;
        reserved = kept;
        device = where;
    }
    bool memoryProfilingEnabled() const override { return true; }
};

}  // namespace

TEST_CASE_FIXTURE(Empty, "What is taken and given back is told to those who listen")
{
    const auto listener = std::make_shared<Listener>();
    {
        const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, listener);
        at::Tensor a = take(600, 1), b = take(100, 1);
        a.reset();
        CHECK(listener->sizes == std::vector<std::int64_t>{1024, 512, -1024});
        CHECK(listener->allocated == 512);
        CHECK(listener->reserved == std::size_t(2 * mib));
        CHECK(listener->device == gpu(1));
    }
}
