#include <doctest/doctest.h>

#include "fake_device/on_device.h"

using namespace hopscope;
using namespace hopscope::fake_device;

namespace {

// A second for each 1,000 bytes up, two down; kernels take 3 seconds.
struct Slow : Fresh {
    c10::Stream copying = pooledStream(), other = pooledStream(), computing = defaultStream();
    at::Tensor host = pinnedBytes(1000), host2 = pinnedBytes(1000), there = at::zeros({1000}, on(0, at::kByte));
    at::Tensor there2 = at::zeros({1000}, on(0, at::kByte)), work = at::zeros({10}, on(0));

    Slow()
    {
        finish(computing);
        setLatency({.h2dBytesPerSecond = 1000, .d2hBytesPerSecond = 500, .kernelSeconds = 3});
        resetClock();
    }
    ~Slow()
    {
        for (const c10::Stream& s : {copying, other, computing}) finish(s);
    }
    static void onStream(const c10::Stream& s, const std::function<void()>& queue)
    {
        const c10::StreamGuard guard(s);
        queue();
    }
};

}  // namespace

TEST_CASE_FIXTURE(Fresh, "Without latencies everything has passed at once")
{
    c10::Event event(type());
    const at::Tensor t = at::zeros({10}, on(0)) + 1;
    event.record(defaultStream());
    CHECK(event.query());
    CHECK(virtualSeconds() == 0);
}

TEST_CASE_FIXTURE(Slow, "A copy on one stream overlaps with a kernel on another")
{
    onStream(copying, [&] { there.copy_(host, true); });
    work.add_(1);
    CHECK(virtualSeconds() == 0);
    finish(copying);
    CHECK(virtualSeconds() == doctest::Approx(1));
    finish(computing);
    CHECK(virtualSeconds() == doctest::Approx(3));
    CHECK(busySeconds().h2d == doctest::Approx(1));
    CHECK(busySeconds().compute == doctest::Approx(3));
    CHECK(busySeconds().d2h == 0);
}

TEST_CASE_FIXTURE(Slow, "Work of one stream runs one after the other")
{
    there.copy_(host, true);
    there.add_(1);
    finish(computing);
    CHECK(virtualSeconds() == doctest::Approx(4));
}

TEST_CASE_FIXTURE(Slow, "A stream that waits starts when the other has got there")
{
    onStream(copying, [&] { there.copy_(host, true); });
    wait(computing, copying);
    there.add_(1);
    finish(computing);
    CHECK(virtualSeconds() == doctest::Approx(4));
}

TEST_CASE_FIXTURE(Slow, "Copies to the other device take the time of the link, after what both streams do")
{
    const at::Tensor elsewhere = at::zeros({1000}, on(1, at::kByte));
    finish(defaultStream(1));
    setLatency({.peerBytesPerSecond = 250, .kernelSeconds = 3});
    resetClock();
    there.add_(1);
    elsewhere.copy_(there, true);
    elsewhere.add_(1);
    finish(defaultStream(1));
    CHECK(virtualSeconds() == doctest::Approx(3 + 4 + 3));
    CHECK(busySeconds().peer == doctest::Approx(4));
    CHECK(counts().bytesBetween == 1000);
    setPeerAccess(false);
    const Findings found;
    CHECK_THROWS_AS(elsewhere.copy_(there, true), c10::Error);
    CHECK(found.tell("a copy between devices without peer access"));
}

TEST_CASE_FIXTURE(Slow, "The thread of each device has a time of its own until they meet")
{
    const at::Tensor elsewhere = at::zeros({10}, on(1));
    finish(defaultStream(1));
    resetClock();
    work.add_(1);
    {
        const c10::DeviceGuard second(gpu(1));
        elsewhere.add_(1);
        finish(defaultStream(1));
    }
    finish(computing);
    CHECK(virtualSeconds() == doctest::Approx(3));  // both at once
    hostsMeet();
    work.add_(1);
    finish(computing);
    CHECK(virtualSeconds() == doctest::Approx(6));
}

TEST_CASE_FIXTURE(Slow, "Copies of one direction share an engine, those of two directions do not")
{
    onStream(copying, [&] { there.copy_(host, true); });
    onStream(other, [&] { there2.copy_(host, true); });
    finish(other);
    CHECK(virtualSeconds() == doctest::Approx(2));
    finish(copying);
    resetClock();
    onStream(copying, [&] { there.copy_(host, true); });
    onStream(other, [&] { host2.copy_(there2, true); });
    finish(other);
    finish(copying);
    CHECK(virtualSeconds() == doctest::Approx(2));
}

TEST_CASE_FIXTURE(Slow, "The host waits for blocking copies and for numbers")
{
    (void)there.cpu();
    CHECK(virtualSeconds() == doctest::Approx(2));
    work.add_(1);
    (void)work.select(0, 0).item<float>();
    CHECK(virtualSeconds() >= 5);
}

TEST_CASE_FIXTURE(Slow, "Launches take the host's time")
{
    setLatency({.launchSeconds = 0.5});
    work.add_(1);
    work.add_(1);
    CHECK(virtualSeconds() == doctest::Approx(1));
    advanceHost(2);
    CHECK(virtualSeconds() == doctest::Approx(3));
}

TEST_CASE_FIXTURE(Slow, "Rows on the host that a kernel reads take the time of the link, which copies wait for")
{
    const at::Tensor places = at::tensor({0, 1}, at::kInt).to(gpu());
    Kernel kernel(0);
    kernel.host = {places.const_data_ptr<std::int32_t>(), host.const_data_ptr(), 1};
    finish(computing);
    setLatency({.h2dBytesPerSecond = 1000, .kernelSeconds = 3, .hostReadBytesPerSecond = 4});
    resetClock();
    CHECK(kernel.run() == 0);  // 32 bytes
    onStream(copying, [&] { there.copy_(host2, true); });
    finish(computing);
    CHECK(virtualSeconds() == doctest::Approx(8));
    finish(copying);
    CHECK(virtualSeconds() == doctest::Approx(9));
    CHECK(busySeconds().h2d == doctest::Approx(9));
    CHECK(busySeconds().compute == doctest::Approx(8));
}

TEST_CASE_FIXTURE(Slow, "Kernels take longer for more bytes")
{
    setLatency({.kernelBytesPerSecond = 10});
    work.add_(1);  // reads and writes 40 bytes
    finish(computing);
    CHECK(virtualSeconds() == doctest::Approx(8));
}

TEST_CASE_FIXTURE(Slow, "Products take as long as their operations or as their bytes, whichever is longer")
{
    const at::Tensor a = at::zeros({2, 5}, on(0)), b = at::zeros({5, 3}, on(0));
    (void)at::mm(a, b);  // takes its workspace
    finish(computing);
    const auto secondsOf = [&](double operations, double bytes) {
        setLatency({.kernelBytesPerSecond = bytes, .operationsPerSecond = operations});
        resetClock();
        (void)at::mm(a, b);
        finish(computing);
        return virtualSeconds();
    };
    CHECK(secondsOf(10, 1000) == doctest::Approx(6));  // 60 of them
    CHECK(secondsOf(1000, 31) == doctest::Approx(4));  // 124 bytes
    CHECK(secondsOf(0, 31) == doctest::Approx(4));
    setLatency({.kernelBytesPerSecond = 1, .operationsPerSecond = 1});
    resetClock();
    (void)at::addmm(at::zeros({3}, on(0)).zero_(), a, b);
    finish(computing);
    CHECK(virtualSeconds() > 124 + 12);
}

TEST_CASE_FIXTURE(Slow, "Events measure the time between them")
{
    c10::Event begin(type(), c10::EventFlag::BACKEND_DEFAULT), end(type(), c10::EventFlag::BACKEND_DEFAULT);
    begin.record(computing);
    work.add_(1);
    end.record(computing);
    CHECK(begin.query());
    CHECK_FALSE(end.query());
    CHECK_THROWS_AS((void)begin.elapsedTime(end), c10::Error);
    end.synchronize();
    CHECK(begin.elapsedTime(end) == doctest::Approx(3000));
}

TEST_CASE_FIXTURE(Slow, "Events without timing measure nothing")
{
    c10::Event begin(type()), end(type());
    begin.record(computing);
    end.record(computing);
    end.synchronize();
    CHECK_THROWS_AS((void)begin.elapsedTime(end), c10::Error);
}

TEST_CASE_FIXTURE(Slow, "A host that asks again and again gets on")
{
    setLatency({.kernelSeconds = 1e-4});
    c10::Event event(type());
    work.add_(1);
    event.record(computing);
    int asked = 0;
    while (!event.query() && asked < 1000) ++asked;
    CHECK(asked > 10);
    CHECK(asked < 1000);
}
