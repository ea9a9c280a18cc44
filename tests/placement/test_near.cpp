// While pins change, work that an earlier plan has done is used again: what comes out is what would come out without.

#include "placement/account.h"
#include "placement/judge.h"
#include "placement/model_instance.h"
#include "placement/optimise.h"
#include "placement/random_model.h"
#include "placement/row_counts.h"

using namespace hopscope;
using placement::Decisions;
using test::Analysed;

namespace {

// What one of them says is what the other one does.
void checkSame(const base::Result<placement::Realised>& one, const base::Result<placement::Realised>& other)
{
    REQUIRE(one.has_value() == other.has_value());
    if (!one) CHECK(base::describe(one.error()) == base::describe(other.error()));
    else CHECK(one->plan == other->plan);
}

// The stores of a rule, some of them left out, others added and delayed, and reads that there might be.
Decisions randomDecisions(const Analysed& p, std::mt19937_64& random)
{
    const std::vector<ir::ValueId> values = p.rowValues();
    const auto chosen = [&] { return values[random() % values.size()]; };
    Decisions decisions;
    const auto stores = placement::strategyStores(p.a, base::Strategy::Depth);
    REQUIRE(stores);
    for (const ir::ValueId v : *stores)
        if (random() % 8 != 0) decisions.written.emplace(v, 0);
    for (int i = 0; i < 4; ++i) decisions.written.emplace(chosen(), static_cast<int>(random() % 4));
    for (int i = 0; i < 30; ++i) {
        const ir::RowClass on{
            random() % 2 ? ir::RowKind::Batch : ir::RowKind::Frontier, p.a.rowSpace(p.value("relu")), {}};
        decisions.reads.insert({chosen(), on, static_cast<int>(random() % 8), on.table});
    }
    return decisions;
}

// A few of them are others.
void change(Decisions& decisions, const Analysed& p, std::mt19937_64& random)
{
    const Decisions other = randomDecisions(p, random);
    const auto swap = [&](auto& now, const auto& then) {
        if (!now.empty() && random() % 2) now.erase(std::next(now.begin(), static_cast<int>(random() % now.size())));
        if (!then.empty()) now.insert(*std::next(then.begin(), static_cast<int>(random() % then.size())));
    };
    swap(decisions.written, other.written);
    for (int i = 0; i < 3; ++i) swap(decisions.reads, other.reads);
}

}  // namespace

TEST_CASE("a plan that takes stages over from one with other decisions is the one that is made from nothing")
{
    int plans = 0, refused = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const Analysed p(test::randomModel(seed, 12 + static_cast<int>(seed)));
        Decisions decisions = randomDecisions(p, random);
        std::shared_ptr<const placement::Realisation> before;
        for (int step = 0; step < 25; ++step) {
            CAPTURE(step);
            const auto anew = placement::realise(p.a, decisions);
            const auto again = placement::realise(p.a, decisions, before.get());
            checkSame(again, anew);
            if (again) before = again->how;
            ++(again ? plans : refused);
            change(decisions, p, random);
        }
    }
    MESSAGE(plans, " plans, ", refused, " refused");
    CHECK(plans > 300);
}

TEST_CASE("a store that is dragged through a model gives sound plans, the same as from nothing, at their stated cost")
{
    int plans = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const Analysed p(test::randomModel(seed + 100, 40));
        const placement::CostModel costs(p.a, placement::Objective::Time, {}, test::randomRows(p.a, random));
        auto now = placement::optimise(p.a, costs, {}, {});
        if (!now) FAIL(base::describe(now.error()));
        const std::vector<ir::ValueId> values = p.rowValues();
        for (int step = 0; step < 8; ++step) {
            const ir::ValueId to = values[random() % values.size()], from = values[random() % values.size()];
            std::vector<plan::Pin> pins{{plan::PinKind::Checkpoint, to}};
            if (step % 2 && from != to) pins.push_back({plan::PinKind::NoCheckpoint, from});
            CAPTURE(to.index);
            CAPTURE(from.index);
            const auto next = placement::optimise(p.a, costs, pins, {}, &*now);
            if (!next) continue;
            CHECK(test::flaw(p.a, next->plan) == "");
            CHECK(test::storedBy(next->plan).contains(to));
            const auto anew = placement::realise(p.a, placement::decisionsOf(next->model, next->placement));
            REQUIRE(anew);
            CHECK(anew->plan.stages == next->plan.stages);
            CHECK(anew->plan.checkpoints == next->plan.checkpoints);
            ++plans;
            now = next;
        }
    }
    MESSAGE(plans, " plans");
    CHECK(plans > 8);
}
