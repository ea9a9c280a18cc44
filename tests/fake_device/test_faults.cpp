#include <csignal>

#include <ATen/Context.h>
#include <ATen/core/CachingHostAllocator.h>
#include <doctest/doctest.h>

#include "fake_device/on_device.h"

using namespace hopscope;
using namespace hopscope::fake_device;

TEST_CASE_FIXTURE(Fresh, "The nth allocation fails, once, as one without memory does")
{
    failAllocation(2);
    CHECK_NOTHROW(at::empty({4}, on(0)));
    CHECK_THROWS_AS(at::empty({4}, on(1)), c10::OutOfMemoryError);
    CHECK_NOTHROW(at::empty({4}, on(1)));
}

TEST_CASE_FIXTURE(Fresh, "Failed pinning is an error of CUDA, not one of memory")
{
    failPinned(1);
    try {
        (void)pinnedBytes(10);
        FAIL("pinned");
    } catch (const c10::OutOfMemoryError&) {
        FAIL("an OutOfMemoryError");
    } catch (const c10::Error& error) {
        CHECK(std::string(error.what()).find("CUDA error: out of memory") != std::string::npos);
    }
    CHECK(pinnedBytes(10).is_pinned());
    failEveryPinned(true);
    for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(pinnedBytes(10), c10::Error);
}

TEST_CASE_FIXTURE(Fresh, "Pinned memory is kept for later until its cache is emptied; blocks in use stay")
{
    at::HostAllocator& allocator = *at::getHostAllocator(type());
    allocator.empty_cache();
    const at::Tensor used = pinnedBytes(4096);
    (void)pinnedBytes(8192);
    CHECK(bytesPinned() == 4096 + 8192);
    allocator.empty_cache();
    CHECK(bytesPinned() == 4096);
    CHECK(used.sum().item<float>() == 0);
}

TEST_CASE_FIXTURE(Fresh, "Operators that sort row numbers are counted if results have to be deterministic")
{
    const at::Tensor rows = at::tensor({1, 0}, at::kLong).to(gpu()), there = at::ones({2, 2}, on(0));
    at::Context& context = at::globalContext();
    const bool before = context.deterministicAlgorithms();
    const auto sorts = [&](bool deterministic) {
        context.setDeterministicAlgorithms(deterministic, /*warn_only=*/true);
        resetCounts();
        (void)there.index_add(0, rows, there);
        context.setDeterministicAlgorithms(before, true);
        return counts().sorts;
    };
    CHECK(sorts(false) == 0);
    CHECK(sorts(true) == 1);
}

TEST_CASE_FIXTURE(Fresh, "A launch that fails with a wrong argument or without an image leaves the device alive")
{
    const Kernel kernel(0);
    for (const int code : {1, 209}) {
        failSegment(2, code);
        CHECK(kernel.run() == 0);
        CHECK(kernel.run() == code);
        CHECK(kernel.run() == 0);
    }
}

TEST_CASE_FIXTURE(Fresh, "After a failed kernel every call throws")
{
    const Kernel kernel(0);
    const at::Tensor there = at::ones({4}, on(0));
    failSegment(1, 719);
    CHECK(kernel.run() == 719);
    CHECK(kernel.run() == 719);
    const auto says = doctest::Contains("unspecified launch failure");
    CHECK_THROWS_WITH_AS(there + 1, says, c10::Error);
    CHECK_THROWS_WITH_AS(there.cpu(), says, c10::Error);
    CHECK_THROWS_WITH_AS(pinnedBytes(4), says, c10::Error);
    CHECK_THROWS_WITH_AS(finish(defaultStream()), says, c10::Error);
    CHECK_THROWS_WITH_AS(wait(defaultStream(), pooledStream()), says, c10::Error);
    CHECK_THROWS_WITH_AS(c10::getDeviceAllocator(type())->emptyCache(), says, c10::Error);
}

namespace {

// Up, computed, down and read, as a careful product does it; device memory of a copy stream is used by the other.
float roundTrip()
{
    const c10::Stream copying = pooledStream(), computing = defaultStream();
    const at::Tensor up = pinnedBytes(4096), down = pinnedBytes(4096);
    at::Tensor there;
    {
        const c10::StreamGuard guard(copying);
        there = up.to(gpu(), true);
    }
    wait(computing, copying);
    there.record_stream(computing);
    const at::Tensor result = there + 1;
    there.reset();
    wait(copying, computing);
    result.record_stream(copying);
    {
        const c10::StreamGuard guard(copying);
        down.copy_(result, true);
    }
    c10::Event done(type());
    done.record(copying);
    done.synchronize();
    return down.sum().item<float>();
}

}  // namespace

TEST_CASE_FIXTURE(Fresh, "A round trip that forgets nothing is without findings")
{
    CHECK(roundTrip() == 4096);
    CHECK(findings().empty());
}

TEST_CASE_FIXTURE(Fresh, "A forgotten wait of a stream is noticed")
{
    drop(Call::StreamWaits, 1);
    CHECK_THROWS_WITH_AS(roundTrip(), doctest::Contains("race"), c10::Error);
    CHECK(dropped(Call::StreamWaits) == 1);
    finish(defaultStream());
}

TEST_CASE_FIXTURE(Fresh, "Of several waits each may be the one that is forgotten")
{
    drop(Call::StreamWaits, 2);  // the one before the download
    CHECK_THROWS_WITH_AS(roundTrip(), doctest::Contains("reads what is written by stream 0"), c10::Error);
}

TEST_CASE_FIXTURE(Fresh, "A forgotten wait of the host is noticed")
{
    drop(Call::HostWaits, 1);
    CHECK(signalOf([] { (void)roundTrip(); }) == SIGSEGV);
}

TEST_CASE_FIXTURE(Fresh, "A forgotten record_stream is noticed")
{
    const Findings found;
    drop(Call::RecordStream, 1);
    CHECK(roundTrip() == 4096);
    CHECK(found.tell("no record_stream"));
    CHECK(dropped(Call::RecordStream) == 2);
}

TEST_CASE_FIXTURE(Fresh, "A forgotten change of the device is noticed")
{
    const Kernel kernel(1);
    const Findings found;
    drop(Call::SetDevice, 1);
    const c10::DeviceGuard guard(gpu(1));
    CHECK(kernel.run() == 700);
    CHECK(found.tell("not of cuda:0"));
}

TEST_CASE_FIXTURE(Fresh, "A forgotten change of the stream is noticed")
{
    drop(Call::ExchangeStream, 1);
    CHECK(signalOf([] { (void)roundTrip(); }) == SIGSEGV);
}

TEST_CASE_FIXTURE(Fresh, "A forgotten wait for a stream is noticed")
{
    const at::Tensor host = pinnedBytes(4096);
    (void)host.to(gpu(), true);
    drop(Call::StreamFinishes, 1);
    finish(defaultStream());
    CHECK(signalOf([&] { host.fill_(1); }) == SIGSEGV);
    drop(Call::StreamFinishes, 0);
    finish(defaultStream());
    CHECK_NOTHROW(host.fill_(1));
}
