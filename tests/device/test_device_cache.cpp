// A GPU keeps the rows of a table that are gathered most; kernels read the others from pinned memory.

#include <algorithm>
#include <cmath>
#include <numeric>

#include <doctest/doctest.h>

#include "base/sha256.h"
#include "device_runs.h"
#include "executor/forecast/predict.h"
#include "journal_runs.h"
#include "resident_layers.h"
#include "support/temporary_folder.h"

namespace hopscope::device_tests {

namespace {

const std::vector<std::string> convolutions{"sage", "gcn", "gat", "gatv2", "transformer", "resgated", "gine", "pna"};

// With a share of the rows of each table that is gathered on the GPU, and all else resident.
Subject divided(const Subject& s, double share)
{
    Subject kept = resident(s);
    std::set<ir::ValueId> tables = gathered(s.prepared.analysis);
    for (const ir::NamedValue& in : s.prepared.analysis.program.inputs)
        if (in.name == "x") tables.insert(in.value);
    std::erase_if(kept.plan.resident, [&](ir::ValueId v) {
        if (!tables.contains(v)) return false;
        kept.plan.cached.push_back({v, share});
        return true;
    });
    REQUIRE(!kept.plan.cached.empty());
    return kept;
}

std::map<std::string, std::string> bits(const Subject& s, const executor::Options& given)
{
    const test::TemporaryFolder folder;
    executor::Options options = given;
    options.folder = folder.path;
    executor::Observer silent;
    const auto report =
        executor::run(s.prepared.walk, s.prepared.analysis, s.plan, s.inputs, options, silent, std::stop_token());
    REQUIRE_MESSAGE(report.has_value(), base::describe(report.error()));
    std::map<std::string, std::string> all;
    for (const executor::StoredTensor& o : report->outputs)
        all[o.name] = base::sha256({o.tensor.data, static_cast<std::size_t>(o.tensor.bytes())});
    return all;
}

std::int64_t hostReads(const executor::RunReport& report)
{
    std::int64_t bytes = 0;
    for (const executor::StageReport& s : report.stages) bytes += s.hostReads;
    return bytes;
}

// The edges whose sources are not among the most frequent ones.
std::int64_t coldEdges(const base::TensorMap& inputs, double share)
{
    const base::TensorView& edges = inputs.at("edge_index");
    const auto* const sources = reinterpret_cast<const std::int64_t*>(edges.data);
    std::vector<std::int64_t> uses(static_cast<std::size_t>(inputs.at("x").shape[0]), 0);
    for (std::int64_t e = 0; e < edges.shape[1]; ++e) ++uses[static_cast<std::size_t>(sources[e])];
    std::ranges::sort(uses, std::greater());
    const auto kept = std::llround(share * static_cast<double>(uses.size()));
    return std::accumulate(uses.begin() + kept, uses.end(), std::int64_t{0});
}

Subject within(const Subject& s, std::int64_t limit)
{
    Subject kept = resident(s);
    const test::TemporaryFolder folder;
    forecast::Predictor predictor(s.prepared.walk, s.prepared.analysis, s.inputs, folder.path);
    auto plan = predictor.keepOnDevice(kept.plan, {.batch = std::nullopt, .memory = limit}, {});
    REQUIRE_MESSAGE(plan.has_value(), base::describe(plan.error()));
    kept.plan = std::move(*plan);
    return kept;
}

}  // namespace

TEST_CASE_FIXTURE(Device, "Whatever share of its tables stays on the GPU, a run has the bits of one where all do")
{
    for (const std::string& name : convolutions) {
        CAPTURE(name);
        const auto expected = bits(resident(convolution(name)), onGpu(60));
        for (const double share : {0.0, 0.1, 0.4, 1.0}) {
            CAPTURE(share);
            const Subject s = divided(convolution(name), share);
            fake_device::resetCounts();
            const Attempt result = attempt(s, onGpu(60));
            CHECK(result.unlessRight() == "");
            CHECK(result.report.rowNumbers == 0);
            CHECK(fake_device::counts().hostReads == hostReads(result.report));
            CHECK((hostReads(result.report) > 0) == (share < 1));
            CHECK(bits(s, onGpu(60)) == expected);
        }
    }
}

TEST_CASE_FIXTURE(Device, "The rows that are gathered most stay, and the report counts the reads of the others")
{
    const Subject& sage = convolution("sage");
    for (const double share : {0.0, 0.02, 0.25, 0.9}) {
        CAPTURE(share);
        const Attempt result = attempt(divided(sage, share), onGpu(0));
        CHECK(result.unlessRight() == "");
        CHECK(hostReads(result.report) == 2 * coldEdges(sage.inputs, share) * 8 * 4);
    }
}

TEST_CASE_FIXTURE(Device, "Where the system pins no memory, the host gathers the rows, and a note says so")
{
    const Subject s = divided(convolution("gat"), 0.3);
    fake_device::failEveryPinned(true);
    const Attempt none = attempt(s, onGpu(60));
    CHECK(none.unlessRight() == "");
    CHECK(none.notes("the host gathers its rows"));
    CHECK(hostReads(none.report) == 0);
    for (std::int64_t nth = 1; nth < 16; ++nth) {
        CAPTURE(nth);
        fake_device::failEveryPinned(false);
        fake_device::failPinned(nth);
        CHECK(attempt(s, onGpu(60)).unlessRight() == "");
    }
}

TEST_CASE_FIXTURE(Device, "On several GPUs, with a journal, or if a store is narrower, the host gathers the rows")
{
    const Subject s = divided(convolution("sage"), 0.3);
    CHECK(attempt(s, onGpu(60)).unlessRight() == "");
    const Attempt both = attempt(s, onGpu(60, "cuda:0,cuda:1"));
    CHECK(both.unlessRight() == "");
    CHECK(hostReads(both.report) == 0);
    CHECK(both.report.rowNumbers > 0);
    Run kept{s, onGpu(60)};
    const auto resumed = kept.process();
    REQUIRE(resumed.has_value());
    CHECK(hostReads(*resumed) == 0);
    CHECK(bits(s, onGpu(60, "cuda:0,cuda:1")) == hashes(resumed));
    executor::Options narrow = onGpu(60);
    narrow.store = base::StoreType::BFloat16;
    Subject whole = s;
    whole.plan.cached.clear();
    CHECK(bits(s, narrow) == bits(whole, narrow));
    CHECK(hostReads(attempt(s, narrow).report) > 0);  // of the features, which no stage stores
}

namespace {

// Compares the plan's forecast with a run that has ended.
void checkForecast(const Subject& s, const executor::Options& options, const executor::RunReport& ran)
{
    const test::TemporaryFolder folder;
    plan::Plan plan = s.plan;
    plan.device = options.device;
    forecast::PredictOptions wanted{.batch = options.batch, .memory = options.memory};
    wanted.store = options.store;
    wanted.journal = options.journal != nullptr;
    const auto told =
        forecast::Predictor(s.prepared.walk, s.prepared.analysis, s.inputs, folder.path).predict(plan, wanted, {});
    REQUIRE_MESSAGE(told.has_value(), base::describe(told.error()));
    for (std::size_t i = 0; i < ran.stages.size(); ++i) {
        CAPTURE(i);
        CHECK(told->stages[i].hostReads == ran.stages[i].hostReads);
        CHECK(told->stages[i].batches == ran.stages[i].batches);
        CHECK(told->stages[i].frontierRows == ran.stages[i].frontierRows);
        CHECK(told->stages[i].bytes.h2d == ran.stages[i].bytes.h2d);
        CHECK(told->stages[i].bytes.d2h == ran.stages[i].bytes.d2h);
        CHECK(told->stages[i].bytes.structure == ran.stages[i].bytes.structure);
    }
}

void checkWithJournal(const Subject& s, std::int64_t batch)
{
    Run kept{s, onGpu(batch)};
    const auto report = kept.process();
    REQUIRE(report.has_value());
    checkForecast(s, kept.options, *report);
}

}  // namespace

TEST_CASE_FIXTURE(Device,
                  "Forecasts count what runs read of divided tables, with a journal and narrower stores as well")
{
    for (const std::string& name : convolutions) {
        CAPTURE(name);
        const Subject whole = resident(convolution(name)), s = divided(convolution(name), 0.3);
        checkForecast(s, onGpu(60), attempt(s, onGpu(60)).report);
        for (const std::int64_t batch : {0, 60}) {
            CAPTURE(batch);
            for (const Subject& kept : {s, whole, convolution(name)}) checkWithJournal(kept, batch);
        }
        executor::Options narrow = onGpu(60);
        narrow.store = base::StoreType::BFloat16;
        checkForecast(s, narrow, attempt(s, narrow).report);
    }
    checkWithJournal(divided(largeConvolution("gatv2-dense"), 0.3), 0);  // tiles of a part of the nodes
}

TEST_CASE_FIXTURE(Device, "Where kernels cannot run, operators take the rows that the host gathers")
{
    for (const char* const name : {"sage", "gatv2", "transformer"}) {
        CAPTURE(name);
        const Subject s = divided(convolution(name), 0.3);
        for (std::int64_t nth = 1; nth < 4; ++nth) {
            CAPTURE(nth);
            fake_device::failSegment(nth, kernels::kNoImage);
            CHECK(attempt(s, onGpu(60)).unlessRight() == "");
        }
    }
}

namespace {

constexpr double copies = 50e9, hostRate = 35e9, kernels = 3e12;  // bytes per second
constexpr std::int64_t tables = 2LL * 60000 * 128 * 4;            // of make_skews.py: those that are gathered
constexpr std::int64_t beside =
    60LL << 20;  // cuBLAS's workspace, and segments of the allocator for batches and the graph

struct Timed {
    executor::RunReport report;
    double seconds = 0;

    // Of the link, where each stage waits for the slower direction.
    [[nodiscard]] double bound() const
    {
        double sum = 0;
        for (const executor::StageReport& s : report.stages) {
            const auto up = static_cast<double>(s.bytes.h2d + s.bytes.structure);
            sum += std::max(up / copies + static_cast<double>(s.hostReads) / hostRate,
                            static_cast<double>(s.bytes.d2h) / copies);
        }
        return sum;
    }
};

Timed timed(const Subject& s, std::int64_t limit)
{
    // Launches and small copies take less than on a GPU, as the graph is smaller than one whose tables exceed a GPU.
    fake_device::setLatency({.copyLatency = 2e-7,
                             .h2dBytesPerSecond = copies,
                             .d2hBytesPerSecond = copies,
                             .kernelSeconds = 1e-7,
                             .kernelBytesPerSecond = kernels,
                             .hostReadBytesPerSecond = hostRate});
    fake_device::resetClock();
    executor::Options options = onGpu(0);
    options.memory = limit;
    const Attempt result = attempt(s, options);
    CHECK(result.unlessRight() == "");
    return {result.report, fake_device::virtualSeconds()};
}

}  // namespace

TEST_CASE_FIXTURE(Device, "Where few rows serve most edges, a part of the tables fills the memory, and saves time")
{
    for (const double share : {0.25, 0.4}) {
        CAPTURE(share);
        const auto limit = static_cast<std::int64_t>(share * tables) + beside;
        const Subject kept = within(skew("skewed"), limit);
        Subject without = kept;
        without.plan.cached.clear();
        CHECK(kept.plan.cached.size() + kept.plan.resident.size() > 1);
        REQUIRE(!kept.plan.cached.empty());
        const Timed run = timed(kept, limit), gathered = timed(without, limit);
        for (const plan::CachedTable& c : kept.plan.cached)
            CHECK(c.share * tables / 2 >= 0.85 * static_cast<double>(limit - beside));
        MESSAGE(kept.plan.resident.size()
                << " tables stay whole; " << run.seconds * 1e3 << " ms, bound " << run.bound() * 1e3
                << "; gathered by the host " << gathered.seconds * 1e3 << "; " << hostReads(run.report)
                << " bytes read by kernels; " << kept.plan.cached.size() << " tables stay in part, "
                << kept.plan.cached[0].share);
        CHECK(run.seconds <= 1.5 * run.bound());
        CHECK(run.seconds < gathered.seconds);
        CHECK(run.report.rowNumbers == 0);
    }
}

TEST_CASE_FIXTURE(Device, "Where batches share most of their rows, the host gathers them")
{
    const Subject kept = within(skew("local"), tables / 4 + beside);
    CHECK(kept.plan.cached.empty());
}

}  // namespace hopscope::device_tests
