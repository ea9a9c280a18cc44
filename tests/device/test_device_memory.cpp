// Tables that stay on a GPU with little memory: as many as fit, for as long as they are used.

#include <doctest/doctest.h>

#include "device_runs.h"
#include "executor/forecast/predict.h"
#include "support/temporary_folder.h"

namespace hopscope::device_tests {

namespace {

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t tableBytes = 12 * mib;

Subject resident(const Subject& s, std::int64_t limit, std::optional<std::int64_t> batch = {})
{
    Subject kept = s;
    kept.plan.device = "cuda:0";
    const test::TemporaryFolder folder;
    forecast::Predictor predictor(s.prepared.walk, s.prepared.analysis, s.inputs, folder.path);
    auto plan = predictor.keepOnDevice(kept.plan, {.batch = batch, .memory = limit}, {});
    REQUIRE_MESSAGE(plan.has_value(), base::describe(plan.error()));
    kept.plan = std::move(*plan);
    return kept;
}

class Reserved final : public executor::Observer {
public:
    void batchFinished(const executor::BatchEvent& e) override
    {
        most = std::max(most, e.reservedMemory);
        peaks.push_back(e.peakMemory);
    }
    std::int64_t most = 0;
    std::vector<std::int64_t> peaks;  // of the batches
};

// Runs it within the limit.
Attempt within(const Subject& s, std::int64_t limit)
{
    executor::Options options = onGpu(0);
    options.memory = limit;
    Reserved reserved;
    Attempt result = attempt(s, options, reserved);
    CHECK(result.unlessRight() == "");
    CHECK(reserved.most <= limit);
    return result;
}

bool touches(const plan::Stage& stage, ir::ValueId value)
{
    const auto is = [&](const plan::Access& access) { return access.value == value; };
    return std::ranges::any_of(stage.loops, [&](const plan::Loop& loop) {
        return std::ranges::any_of(loop.reads, is) || std::ranges::any_of(loop.writes, is);
    });
}

// The largest number of tables of a plan that are resident at the same time, each from the first stage to the last one
// that reads or writes it.
std::int64_t atOnce(const plan::Plan& plan)
{
    std::vector<std::int64_t> tables(plan.stages.size(), 0);
    for (const ir::ValueId value : plan.resident) {
        const auto touched = [&](const plan::Stage& stage) { return touches(stage, value); };
        const auto first = std::ranges::find_if(plan.stages, touched) - plan.stages.begin();
        const auto after = std::ranges::find_if(plan.stages.rbegin(), plan.stages.rend(), touched).base();
        for (auto s = first; s < after - plan.stages.begin(); ++s) ++tables[static_cast<std::size_t>(s)];
    }
    return *std::ranges::max_element(tables);
}

}  // namespace

TEST_CASE_FIXTURE(Device, "Tables share the memory if one is given up before the other is made")
{
    // Of 15 tables of 12 MiB: two at a time, and a batch, whose tensors must be small to need no segment of 20 MiB.
    for (const std::int64_t limit : {30 * mib, 32 * mib, 34 * mib}) {
        CAPTURE(limit);
        const Subject s = resident(stack("chain"), limit);
        CHECK(s.plan.resident.size() == 14);  // not the output, which no stage reads
        CHECK(s.plan.residentStructure);
        const Attempt result = within(s, limit);
        CHECK(result.report.rowNumbers == 0);
        for (const executor::StageReport& stage : result.report.stages) CHECK(stage.backOffs == 0);
    }
}

TEST_CASE_FIXTURE(Device, "Tables stay although large batches would not fit beside them")
{
    // A 32nd of the destinations makes some 20 MiB of rows of edges, and the tables take a segment of 20 MiB.
    const std::int64_t limit = 48 * mib;
    const Subject s = resident(largeConvolution("edgeconv-many"), limit);
    CHECK(s.plan.residentStructure);
    CHECK(s.plan.resident.size() == 2);
    for (const executor::StageReport& stage : within(s, limit).report.stages) {
        CHECK(stage.bytes.h2d <= 1.01 * static_cast<double>(s.inputs.at("x").bytes()));
        CHECK(stage.batches <= 1000);
    }
}

// The segments of the allocator fill these limits.
TEST_CASE_FIXTURE(Device, "Where the memory seems to be full, batches have many destinations all the same")
{
    for (const std::int64_t limit : {28 * mib, 40 * mib}) {
        CAPTURE(limit);
        const Subject s = resident(stack("chain"), limit);
        const std::int64_t nodes = s.inputs.at("x").shape[0];
        for (const executor::StageReport& stage : within(s, limit).report.stages) CHECK(stage.batches < nodes / 50);
    }
}

TEST_CASE_FIXTURE(Device, "Batches beside tables that come and go have the predicted peaks")
{
    constexpr std::int64_t batch = 5000, rounding = 2048;
    const Subject s = resident(stack("chain"), 36 * mib, batch);
    CHECK(s.plan.resident.size() == 14);
    const auto predicted = models::predictPlan(s.prepared, s.plan, s.inputs, batch);
    REQUIRE(predicted.has_value());
    Reserved measured;
    CHECK(attempt(s, onGpu(batch), measured).unlessRight() == "");
    std::vector<std::int64_t> peaks;
    for (const forecast::PredictedStage& stage : predicted->stages)
        peaks.insert(peaks.end(), stage.batchPeaks.begin(), stage.batchPeaks.end());
    REQUIRE(peaks.size() == measured.peaks.size());
    for (std::size_t i = 0; i < peaks.size(); ++i) {
        CAPTURE(i);
        CHECK(std::abs(peaks[i] - measured.peaks[i]) <= rounding);
    }
}

// No small batch has edges, or each has one for each destination.
TEST_CASE_FIXTURE(Device, "The memory of edges that nearly all end at one node is predicted")
{
    constexpr std::int64_t all = 1000;
    for (const std::string name : {"ends", "looped"}) {
        CAPTURE(name);
        Subject s = subject(name);
        s.plan.device = "cuda:0";
        const auto predicted = models::predictPlan(s.prepared, s.plan, s.inputs, all);
        REQUIRE(predicted.has_value());
        const Attempt result = attempt(s, onGpu(all));
        CHECK(result.unlessRight() == "");
        REQUIRE(predicted->stages.size() == 1);
        const std::int64_t peak = predicted->stages[0].peakMemory, measured = result.report.stages.at(0).peakMemory;
        CHECK(peak >= measured);
        CHECK(static_cast<double>(peak) <= 1.3 * static_cast<double>(measured));
    }
}

TEST_CASE_FIXTURE(Device, "Tables that are needed at the same time take what batches leave")
{
    const Subject& s = stack("jumps");
    for (const double share : {1.2, 2.0}) {
        CAPTURE(share);
        const std::int64_t limit = static_cast<std::int64_t>(15 * tableBytes / share);
        const Subject kept = resident(s, limit);
        const std::int64_t fitting = limit / tableBytes, together = atOnce(kept.plan);
        MESSAGE(together << " tables stay at the same time; without batches " << fitting << " would fit");
        CHECK(static_cast<double>(together) >= 0.85 * static_cast<double>(fitting));
        CHECK(kept.plan.residentStructure);
        CHECK(within(kept, limit).report.stages.back().bytes.h2d > 0);
    }
}

}  // namespace hopscope::device_tests
