// What batches are said to hold, against what they do hold: a probe sees sizes and addresses of all results of a run.

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "executor/forecast/predict.h"
#include "executor/probe.h"
#include "model_runs.h"

namespace hopscope::tests {

namespace {

struct Seen {
    std::int64_t bytes = 0;
    const void* begin = nullptr;
    const void* storage = nullptr;
};
using Place = std::pair<ir::ValueId, ir::RowClass>;

// Of a run with a single batch per loop.
class Memory final : public executor::Probe {
public:
    [[nodiscard]] bool everyOperator() const override { return false; }
    void computed(const executor::Probed& p) override
    {
        if (p.tensor.layout() != at::kStrided) return;
        seen[p.stage][{p.value, p.rows}] = {static_cast<std::int64_t>(p.tensor.nbytes()), p.tensor.const_data_ptr(),
                                            p.tensor.storage().data()};
    }

    std::map<plan::StageId, std::map<Place, Seen>> seen;
};

executor::Options wholeStages(Memory& memory, const std::string& folder)
{
    executor::Options options;
    options.batch = 1'000'000;
    options.threads = 1;
    options.probe = &memory;
    options.folder = folder;
    return options;
}

struct Tally {
    int sizes = 0, overwritten = 0, apart = 0, views = 0;
};

using Find = std::function<const Seen*(std::size_t)>;

// What is there at the same time lies somewhere else.
void checkApart(const forecast::LoopHoldings& loop, std::size_t h, const Find& find, Tally& tally)
{
    for (std::size_t other = 0; other < h; ++other) {
        const bool alive = loop.held[other].to > loop.held[h].from && loop.held[other].bytes > 0;
        const Seen* const beside = alive ? find(other) : nullptr;
        if (beside == nullptr || loop.held[h].bytes == 0) continue;
        CHECK(find(h)->storage != beside->storage);
        ++tally.apart;
    }
}

void checkPlace(const forecast::LoopHoldings& loop, std::size_t h, const Find& find, Tally& tally)
{
    const forecast::Holding& held = loop.held[h];
    if (const Seen* const base = held.viewOf ? find(*held.viewOf) : nullptr) {
        CHECK(find(h)->storage == base->storage);
        ++tally.views;
    }
    if (const Seen* const before = held.over ? find(*held.over) : nullptr) {
        CHECK(find(h)->begin == before->begin);
        ++tally.overwritten;
    }
    if (!held.viewOf && !held.over) checkApart(loop, h, find, tally);
}

void compare(const forecast::LoopHoldings& loop, const std::map<Place, Seen>& seen, Tally& tally)
{
    const Find find = [&](std::size_t h) {
        const auto it = seen.find({loop.held[h].value, loop.held[h].rows});
        return it == seen.end() ? nullptr : &it->second;
    };
    for (std::size_t h = 0; h < loop.held.size(); ++h) {
        const forecast::Holding& held = loop.held[h];
        if (find(h) == nullptr || loop.steps[held.from].kind != plan::BatchStep::Operator) continue;
        CAPTURE(held.value.at());
        checkPlace(loop, h, find, tally);
        if (held.viewOf) continue;
        CHECK(find(h)->bytes == held.bytes);
        ++tally.sizes;
    }
}

// By the steps alone: whatever is made is there until its end, and a byte is nobody's twice.
void checkSums(const forecast::LoopHoldings& loop)
{
    for (std::size_t at = 0; at < loop.steps.size(); ++at) {
        std::int64_t sum = 0;
        for (const forecast::Holding& h : loop.held)
            if (h.from <= at && at < h.to) sum += h.bytes;
        CHECK(loop.bytes[at] == sum);
        CHECK(loop.bytes[at] <= loop.peak());
    }
}

}  // namespace

TEST_CASE("a stage holds what its memory plan says, as large and in the same place")
{
    Tally tally;
    forecast::PredictOptions wholeStage;
    wholeStage.batch = 1'000'000;
    for (const char* name : {"sage", "gcn", "gat", "gated", "several", "reduced", "normed", "readout", "edges", "wide",
                             "hetero", "overwritten", "softmaxed_weights"})
        for (const auto strategy : base::rules) {
            CAPTURE(std::string(name));
            const auto prepared = prepare(models(), name, strategy);
            REQUIRE(prepared.has_value());
            const TemporaryFolder folder, scratch;
            Memory memory;
            executor::Observer silent;
            REQUIRE(executor::run(prepared->walk, prepared->analysis, prepared->plan, prepared->data,
                                  wholeStages(memory, folder.path), silent, {})
                        .has_value());
            forecast::Predictor predictor(prepared->walk, prepared->analysis, prepared->data, scratch.path);
            for (const plan::Stage& stage : prepared->plan.stages) {
                CAPTURE(stage.index.number);
                const auto held = predictor.memoryOf(prepared->plan, stage.index, wholeStage, {});
                REQUIRE(held.has_value());
                for (const forecast::LoopHoldings& loop : held->loops) {
                    compare(loop, memory.seen[stage.index], tally);
                    checkSums(loop);
                    if (!held->predicted.estimated)
                        CHECK(loop.peak() + held->predicted.outside <= held->predicted.peakMemory);
                }
            }
        }
    MESSAGE(tally.sizes << " sizes, " << tally.overwritten << " overwritten, " << tally.apart << " apart, "
                        << tally.views << " views");
    CHECK(tally.sizes > 50);
    CHECK(tally.overwritten > 5);
    CHECK(tally.apart > 50);
    CHECK(tally.views > 5);
}

TEST_CASE("a stage that a plan does not have holds nothing")
{
    const auto prepared = prepare(models(), "sage", base::Strategy::Depth);
    REQUIRE(prepared.has_value());
    const TemporaryFolder scratch;
    forecast::Predictor predictor(prepared->walk, prepared->analysis, prepared->data, scratch.path);
    for (const int number : {0, 3}) {
        const auto held = predictor.memoryOf(prepared->plan, plan::StageId(number), {}, {});
        REQUIRE(!held.has_value());
        CHECK(held.error().message == "the plan has no stage " + std::to_string(number));
    }
}

}  // namespace hopscope::tests
