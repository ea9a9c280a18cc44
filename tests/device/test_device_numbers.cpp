// Copies to a GPU, and row numbers of the host, where tables and adjacencies are resident.

#include <cstdlib>
#include <functional>
#include <numeric>
#include <set>

#include <doctest/doctest.h>

#include "device_runs.h"
#include "planned_model.h"
#include "resident_layers.h"

namespace hopscope::device_tests {

TEST_CASE_FIXTURE(Device, "Where all is resident, the host numbers nothing and copies everything once")
{
    for (const Layer& layer : layers)
        for (const std::int64_t batch : {0, 60}) {
            CAPTURE(layer.name);
            CAPTURE(batch);
            const Subject s = resident(convolution(layer.name));
            CHECK(s.plan.residentStructure);
            fake_device::resetCounts();
            const Attempt result = attempt(s, onGpu(batch));
            CHECK(result.unlessRight() == "");
            CHECK(result.report.rowNumbers == 0);
            const std::int64_t least = bytesUp(s, layer);
            CHECK(static_cast<double>(fake_device::counts().bytesUp) ==
                  doctest::Approx(static_cast<double>(least)).epsilon(0.01));
        }
}

// Both convolutions of PNA multiply rows of edges by a matrix: these products have a row for each edge of a batch.
TEST_CASE_FIXTURE(Device, "Where all is resident, convolutions make no rows of features for edges, in a few launches")
{
    constexpr std::int64_t convolutions = 2, mostLaunches = 4;
    for (const Layer& layer : layers) {
        if (layer.name == "pna") continue;
        CAPTURE(layer.name);
        const Subject s = resident(convolution(layer.name));
        const base::TensorView& x = s.inputs.at("x");
        CHECK(attempt(s, onGpu(0)).unlessRight() == "");  // allocates what LibTorch keeps
        fake_device::resetCounts();
        CHECK(attempt(s, onGpu(0)).unlessRight() == "");
        const auto input = s.inputs.find("edge_attr");
        const std::int64_t onEdges = input == s.inputs.end() ? 0 : input->second.bytes();
        CHECK(fake_device::counts().largest <= std::max(4 * x.bytes() - 1, onEdges));
        CHECK(fake_device::counts().segments <= convolutions * mostLaunches);
        if (layer.name != "gatv2") continue;
        executor::Options apart = onGpu(0);
        apart.fuse = {};
        CHECK(attempt(s, apart).unlessRight() == "");
        CHECK(fake_device::counts().largest > 4 * x.bytes());
    }
}

namespace {

// Views are free, and need no numbers.
bool computesOnFrontiers(const analysis::Analysis& a, const plan::Plan& plan)
{
    const auto onFrontier = [&](const plan::Step& step) {
        return step.rows.kind == ir::RowKind::Frontier && !a.info(step.op).view;
    };
    return std::ranges::any_of(plan.stages, [&](const plan::Stage& stage) {
        return std::ranges::any_of(stage.loops,
                                   [&](const plan::Loop& loop) { return std::ranges::any_of(loop.steps, onFrontier); });
    });
}

}  // namespace

TEST_CASE_FIXTURE(Device, "The default plan of a GPU computes nothing on frontiers and numbers nothing")
{
    const KnownRates rates({largeGraph()});
    for (const Layer& layer : layers) {
        CAPTURE(layer.name);
        Subject s = convolution(layer.name);
        Planned planned(s);
        s.plan = planned.byDefault();
        CHECK_FALSE(computesOnFrontiers(s.prepared.analysis, s.plan));
        CHECK(s.plan.residentStructure);
        const Attempt result = attempt(s, onGpu(0));
        CHECK(result.unlessRight() == "");
        CHECK(result.report.rowNumbers == 0);
        const double now = planned.seconds(s.plan), before = planned.seconds(planned.asIfNothingStayed());
        MESSAGE(layer.name << ": " << now * 1e3 << " ms predicted, before " << before * 1e3);
        CHECK(now <= before * 1.001);
    }
}

TEST_CASE_FIXTURE(Device, "Numbers are right whatever is resident, with row numbers of the host as well")
{
    for (const Layer& layer : layers) {
        CAPTURE(layer.name);
        Subject s = resident(convolution(layer.name));
        CHECK(attempt(s, onGpu(60)).unlessRight() == "");
        s.plan.residentStructure = false;
        fake_device::resetCounts();
        const Attempt numbered = attempt(s, onGpu(60));
        CHECK(numbered.unlessRight() == "");
        CHECK(numbered.report.rowNumbers > 0);
        s.plan.resident.clear();
        CHECK(attempt(s, onGpu(60)).unlessRight() == "");
    }
}

}  // namespace hopscope::device_tests
