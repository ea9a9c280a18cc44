// Copies to a GPU, and row numbers of the host, where tables and adjacencies are resident.

#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include <doctest/doctest.h>

#include "analysis/analyse.h"
#include "device_runs.h"
#include "executor/forecast/predict.h"
#include "planned_model.h"
#include "resident_layers.h"
#include "support/temporary_folder.h"

namespace hopscope::device_tests {

namespace {

// The same model with its products moved before gathers.
Subject reassociated(const Subject& s)
{
    Subject moved = s;
    moved.prepared.analysis =
        analysis::analyse(s.prepared.walk.program, s.prepared.schema, analysis::Options{.reassociate = true});
    REQUIRE(!moved.prepared.analysis.refusal);
    REQUIRE(!moved.prepared.analysis.reassociations.empty());
    return moved;
}

bool multipliesOnEdges(const Layer& layer) { return layer.name == "pna" || layer.name == "edgeconv"; }

// Allocations and launches of a run on an idle device.
fake_device::Counts countsOf(const Subject& s)
{
    CHECK(attempt(s, onGpu(0)).unlessRight() == "");  // allocates what LibTorch keeps
    fake_device::resetCounts();
    const Attempt result = attempt(s, onGpu(0));
    CHECK(result.unlessRight() == "");
    CHECK(result.report.rowNumbers == 0);
    return fake_device::counts();
}

std::int64_t featureBytes(const Subject& s) { return s.inputs.at("x").bytes(); }
std::int64_t edgeFeatureBytes(const Subject& s)
{
    const std::int64_t edges = s.inputs.at("edge_index").shape[1], nodes = s.inputs.at("x").shape[0];
    return featureBytes(s) / nodes * edges;
}

}  // namespace

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

TEST_CASE_FIXTURE(Device, "Where all is resident, a product with a sparse matrix reads its table in place")
{
    for (const std::int64_t batch : {0, 7}) {
        CAPTURE(batch);
        const Attempt result = attempt(resident(subject("sparse")), onGpu(batch));
        CHECK(result.unlessRight() == "");
        CHECK(result.report.rowNumbers == 0);
        for (const executor::StageReport& stage : result.report.stages) CHECK(stage.frontierRows == 0);
    }
}

constexpr std::int64_t convolutions = 2, mostLaunches = 4;

TEST_CASE_FIXTURE(Device, "Where all is resident, convolutions make no rows of features for edges, in a few launches")
{
    for (const Layer& layer : layers) {
        if (multipliesOnEdges(layer)) continue;
        CAPTURE(layer.name);
        const Subject s = resident(convolution(layer.name));
        const fake_device::Counts counts = countsOf(s);
        const auto input = s.inputs.find("edge_attr");
        const std::int64_t onEdges = input == s.inputs.end() ? 0 : input->second.bytes();
        CHECK(counts.largest <= std::max(4 * featureBytes(s) - 1, onEdges));
        CHECK(counts.segments <= convolutions * mostLaunches);
        if (layer.name != "gatv2") continue;
        executor::Options apart = onGpu(0);
        apart.fuse = {};
        CHECK(attempt(s, apart).unlessRight() == "");
        CHECK(fake_device::counts().largest > 4 * featureBytes(s));
    }
}

// The products of PNA and EdgeConv have a row for each edge of a batch, unless they are moved. Rows of edges that the model
// multiplies (edge_attr) have no table of nodes.
TEST_CASE_FIXTURE(Device, "Where all is resident, products that are moved to nodes leave no rows of features for edges")
{
    for (const std::string name : {"edgeconv", "pna"}) {
        CAPTURE(name);
        const Subject before = resident(convolution(name)), s = resident(reassociated(convolution(name)));
        const fake_device::Counts onEdges = countsOf(before), onNodes = countsOf(s);
        CHECK(4 * featureBytes(s) < edgeFeatureBytes(s));
        CHECK(onEdges.largest >= 2 * edgeFeatureBytes(s));
        CHECK(onEdges.segments <= convolutions * mostLaunches);
        CHECK(onNodes.largest < 4 * featureBytes(s));
        CHECK(onNodes.segments <= convolutions * mostLaunches);
    }
    const Subject along = resident(reassociated(convolution("pna_along")));
    const fake_device::Counts counts = countsOf(along);
    CHECK(counts.largest <= 2 * edgeFeatureBytes(along));
    CHECK(counts.segments <= convolutions * mostLaunches);
}

TEST_CASE_FIXTURE(Device, "Where all is resident, rows of edges are tensors that keep a GPU busy, and no larger ones")
{
    constexpr std::int64_t busy = 256 << 20;
    fake_device::setTotalMemory(32LL << 30);  // allows a single batch
    const Subject s = resident(largeConvolution("edgeconv-many"));
    REQUIRE(2 * edgeFeatureBytes(s) > busy);  // both ends of each edge, side by side
    const fake_device::Counts counts = countsOf(s);
    CHECK(counts.largest <= busy);
    CHECK(counts.largest > busy / 3);
    const test::TemporaryFolder folder;
    forecast::Predictor predictor(s.prepared.walk, s.prepared.analysis, s.inputs, folder.path);
    forecast::PredictOptions options;
    options.eachBatch = true;
    const auto predicted = predictor.predict(s.plan, options, {});
    REQUIRE(predicted.has_value());
    const Attempt run = attempt(s, onGpu(0));
    REQUIRE(predicted->stages.size() == run.report.stages.size());
    for (std::size_t i = 0; i < run.report.stages.size(); ++i) {
        CAPTURE(i);
        CHECK(predicted->stages[i].batchPeaks.size() == static_cast<std::size_t>(run.report.stages[i].batches));
        CHECK(static_cast<double>(predicted->stages[i].peakMemory) ==
              doctest::Approx(static_cast<double>(run.report.stages[i].peakMemory)).epsilon(0.1));
    }
    fake_device::setTotalMemory(4LL << 30);
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

// SAGE and GCN aggregate by the segment kernels alone.
TEST_CASE_FIXTURE(Device, "Every region of these convolutions has a kernel of its shape in the default plan of a GPU")
{
    const KnownRates rates({largeGraph()});
    const auto check = [](Subject s, bool strips) {
        s.plan = Planned(s).byDefault();
        fake_device::resetCounts();
        CHECK(attempt(s, onGpu(0)).unlessRight() == "");
        CHECK((fake_device::counts().shaped > 0) == strips);
        CHECK(fake_device::counts().read == 0);
    };
    for (const Layer& layer : layers) {
        CAPTURE(layer.name);
        check(convolution(layer.name), layer.name != "sage" && layer.name != "gcn");
        if (multipliesOnEdges(layer)) check(reassociated(convolution(layer.name)), true);
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
