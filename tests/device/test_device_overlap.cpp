// How much of a GPU's copying hides behind its computing, by the fake device's clock: copies as over PCIe 4, and kernels
// as fast as makes a model's copies and its computing equally long, or one of them four times the other.

#include <algorithm>

#include <doctest/doctest.h>

#include "device_runs.h"

namespace hopscope::device_tests {

namespace {

using fake_device::BusySeconds;
using fake_device::Latency;

constexpr std::int64_t batch = 800;  // 25 of them
constexpr double pciExpress = 25e9, copyLatency = 10e-6, kernelSeconds = 5e-6;

struct Measured {
    double seconds = 0;
    BusySeconds busy;
    executor::RunReport report;

    [[nodiscard]] double longest() const { return std::max({busy.h2d, busy.compute, busy.d2h}); }
    [[nodiscard]] double sum() const { return busy.h2d + busy.compute + busy.d2h; }
};

Measured measure(const Subject& s, const Latency& latency)
{
    fake_device::setLatency(latency);
    fake_device::resetClock();
    const Attempt result = attempt(s, onGpu(batch));
    CHECK(result.unlessRight() == "");
    return {fake_device::virtualSeconds(), fake_device::busySeconds(), result.report};
}

Latency copies(double slower)
{
    Latency latency;
    latency.copyLatency = copyLatency;
    latency.h2dBytesPerSecond = latency.d2hBytesPerSecond = pciExpress / slower;
    latency.kernelSeconds = kernelSeconds;
    return latency;
}

// Kernels so fast that computing takes `ratio` times as long as the busier of the copy engines.
Latency balanced(const Subject& s, double ratio, double slower)
{
    Latency latency = copies(slower);
    const BusySeconds launches = measure(s, latency).busy;
    latency.kernelBytesPerSecond = 1e12;
    const double bytes = (measure(s, latency).busy.compute - launches.compute) * 1e12;
    const double wanted = ratio * std::max(launches.h2d, launches.d2h) - launches.compute;
    REQUIRE(wanted > 0);
    latency.kernelBytesPerSecond = bytes / wanted;
    return latency;
}

void tell(const std::string& what, const Measured& m)
{
    std::string stages;
    for (const executor::StageReport& s : m.report.stages)
        stages += " stage " + std::to_string(s.index.number) + ": " + std::to_string(s.batches) + " batches, overlap " +
                  std::to_string(s.overlap.value_or(-1));
    MESSAGE(what << ": " << m.seconds * 1e3 << " ms; in " << m.busy.h2d * 1e3 << ", computing " << m.busy.compute * 1e3
                 << ", out " << m.busy.d2h * 1e3 << "; " << m.seconds / m.longest() << " of the longest;" << stages);
}

void checkHidden(const std::string& what, const Measured& m)
{
    tell(what, m);
    CHECK(m.seconds <= 1.25 * m.longest());
    for (const executor::StageReport& s : m.report.stages) {
        CHECK(s.batches >= 16);
        REQUIRE(s.overlap.has_value());
        CHECK(*s.overlap > 0.8);
    }
}

class Computing final : public executor::Observer {
public:
    void phaseFinished(const executor::PhaseEvent& e) override
    {
        if (e.phase == executor::Phase::Compute) batches.push_back(e);
    }
    std::vector<executor::PhaseEvent> batches;
};

}  // namespace

TEST_CASE_FIXTURE(Device, "After a day a batch is still timed to the microsecond")
{
    constexpr double day = 24 * 3600;
    fake_device::setLatency(copies(1));
    fake_device::resetClock();
    int launches = 0;
    accelerator().beforeSegment = [&] {
        if (launches++ == 2) fake_device::advanceHost(day);
    };
    Computing computing;
    CHECK(attempt(subject("wide"), onGpu(batch), computing).unlessRight() == "");
    REQUIRE(computing.batches.size() > 20);
    for (std::size_t i = 5; i < 20; ++i) {  // of the first stage, each with the same launches
        CHECK(computing.batches[i].start > day);
        CHECK(computing.batches[i].seconds == doctest::Approx(computing.batches[1].seconds).epsilon(0.05));
    }
}

TEST_CASE_FIXTURE(Paced, "Copies and computing that are equally long hide each other")
{
    const Subject& s = subject("wide");
    const Latency latency = balanced(s, 1, 1);
    const Measured m = measure(s, latency);
    CHECK(m.busy.compute == doctest::Approx(m.busy.h2d).epsilon(0.05));
    checkHidden("equally long", m);
    CHECK(m.seconds < 0.75 * m.sum());
}

TEST_CASE_FIXTURE(Paced, "Copies in, computing and copies out that are equally long hide each other")
{
    const Subject& s = subject("rows");
    const Latency latency = balanced(s, 1, 1);
    const Measured m = measure(s, latency);
    CHECK(m.busy.d2h > 0.5 * m.busy.h2d);
    checkHidden("three equally long", m);
}

TEST_CASE_FIXTURE(Paced, "Computing that takes four times as long hides the copies")
{
    const Subject& s = subject("wide");
    checkHidden("computing longer", measure(s, balanced(s, 4, 1)));
}

TEST_CASE_FIXTURE(Paced, "Copies that take four times as long hide the computing")
{
    const Subject& s = subject("wide");
    checkHidden("copies longer", measure(s, balanced(s, 0.25, 8)));
}

TEST_CASE_FIXTURE(Paced, "From pageable memory nothing is hidden, and the figures say so")
{
    const Subject& s = subject("wide");
    const Latency latency = balanced(s, 1, 1);
    fake_device::failEveryPinned(true);
    const Measured m = measure(s, latency);
    tell("pageable", m);
    CHECK(m.seconds > 1.25 * m.longest());
    for (const executor::StageReport& stage : m.report.stages) CHECK(stage.overlap.value_or(0) < 0.8);
}

}  // namespace hopscope::device_tests
