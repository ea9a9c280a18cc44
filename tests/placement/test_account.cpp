#include <numeric>

#include "optimiser/explain.h"
#include "placement/account.h"
#include "placement/judge.h"
#include "placement/optimise.h"
#include "placement/pins.h"
#include "placement/row_counts.h"

using namespace hopscope;
using placement::Objective;
using plan::Pin;
using plan::PinKind;
using test::Analysed;
using test::randomRows;
using test::twoLayers;

namespace {

const std::string skip = twoLayers + "s = aten::add.Tensor(self=h2, other=lin2, alpha=1) -> f[7,3]\nout = s\n";

placement::Optimum best(const Analysed& p, const placement::CostModel& costs, const std::vector<Pin>& pins = {},
                        const placement::Optimum* before = nullptr)
{
    auto optimum = placement::optimise(p.a, costs, pins, {}, before);
    if (!optimum) FAIL(base::describe(optimum.error()));
    return std::move(*optimum);
}

int stepsOf(const Analysed& p, const plan::Plan& plan, ir::ValueId v, int stage = 0)
{
    int steps = 0;
    for (const plan::Stage& s : plan.stages)
        for (const plan::Loop& loop : s.loops)
            if (stage == 0 || s.index.number == stage)
                steps +=
                    static_cast<int>(std::ranges::count(loop.steps, p.a.program.value(v).producer, &plan::Step::op));
    return steps;
}

bool computesOnFrontiers(const Analysed& p, const plan::Plan& plan)
{
    bool found = false;
    for (const plan::Stage& stage : plan.stages)
        for (const plan::Loop& loop : stage.loops)
            for (const plan::Step& step : loop.steps)
                found |= step.rows.kind == ir::RowKind::Frontier && !p.a.info(step.op).view;
    return found;
}

}  // namespace

TEST_CASE("values, structure and stages add up to what the stages cost, whatever made the plan")
{
    const Analysed p(skip);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const Objective objective = seed % 2 ? Objective::Time : Objective::Bytes;
        const placement::CostModel costs(p.a, objective, {}, randomRows(p.a, random));
        for (const plan::Plan& plan : {best(p, costs).plan, placement::makePlan(p.a, base::Strategy::Depth).value(),
                                       placement::makePlan(p.a, base::Strategy::SourceRule).value()}) {
            const placement::Account account = placement::accountOf(p.a, costs, plan);
            const std::vector<double> stages = placement::stageCosts(p.a, costs, plan);
            CHECK(account.total() == doctest::Approx(std::accumulate(stages.begin(), stages.end(), 0.0)));
            if (plan.cost) CHECK(account.total() == doctest::Approx(*plan.cost));
            for (const plan::Checkpoint& c : plan.checkpoints) CHECK(account.values.at(c.value).write > 0);
            for (const auto& [value, entry] : account.values) {
                const bool computed = std::ranges::any_of(plan.stages, [&](const plan::Stage& s) {
                    return p.a.program.value(value).producer.valid() && stepsOf(p, plan, value, s.index.number) > 0;
                });
                CHECK(entry.stages.empty() != computed);
            }
        }
    }
}

TEST_CASE("where all stays on a GPU, the optimum is no dearer by its account, and nothing is computed on frontiers")
{
    const Analysed p(skip);
    int inPlace = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        plan::Machine machine = plan::typicalMachine("cuda:0");
        if (seed % 2) machine.call = machine.batch = 1e-12;  // else another stage may cost more than row numbers
        const placement::CostModel bare(p.a, Objective::Time, machine, randomRows(p.a, random));
        const placement::CostModel costs = bare.with({.everything = true});
        const placement::Optimum optimum = best(p, costs);
        const auto total = [&](const placement::CostModel& by, const plan::Plan& plan) {
            return placement::accountOf(p.a, by, plan).total();
        };
        CHECK(optimum.plan.lowerBound.value() <= total(costs, optimum.plan) * (1 + 1e-9));
        CHECK(total(costs, optimum.plan) <= total(bare, optimum.plan));
        for (const plan::Plan& other : {best(p, bare).plan, placement::makePlan(p.a, base::Strategy::Depth).value()})
            CHECK(optimum.plan.lowerBound.value() <= total(costs, other) * (1 + 1e-9));
        const bool onFrontiers = computesOnFrontiers(p, optimum.plan);
        if (seed % 2) CHECK_FALSE(onFrontiers);
        if (!onFrontiers) CHECK(optimum.plan.cost.value() == doctest::Approx(total(costs, optimum.plan)));
        inPlace += !onFrontiers;
    }
    CHECK(inPlace >= 15);
}

namespace {

// Indexes expanded to the width of messages, as PyG writes sums over edges.
const std::string expanded = R"(
x = node f[7,4]
e = index i[2,9]
w1 = weight f[6,4]
n = scalar::size(self=x, dim=0) -> n7
src = aten::select(self=e, dim=0, index=0) -> i[9]
dst = aten::select(self=e, dim=0, index=1) -> i[9]
lin1 = aten::linear(input=x, weight=w1, bias=none) -> f[7,6]
m1 = aten::index_select(self=lin1, dim=0, index=src) -> f[9,6]
column = aten::view(self=dst, size=[-1, 1]) -> i[9,1]
index = aten::expand_as(self=column, other=m1) -> i[9,6]
z1 = aten::new_zeros(self=lin1, size=[n, 6], dtype=none, layout=none, device=none, pin_memory=none) -> f[7,6]
h1 = aten::scatter_add(self=z1, dim=0, index=index, src=m1) -> f[7,6]
r1 = aten::relu(self=h1) -> f[7,6]
m2 = aten::index_select(self=r1, dim=0, index=src) -> f[9,6]
h2 = aten::scatter_add(self=z1, dim=0, index=index, src=m2) -> f[7,6]
out = h2
)";

}  // namespace

TEST_CASE("an expanded index is read as the column that it shows, and stays with its adjacency")
{
    const Analysed p(expanded);
    const ir::ValueId index = p.value("expand_as"), column = p.value("select", 1);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const Objective objective = seed % 2 ? Objective::Time : Objective::Bytes;
        const placement::CostModel bare(p.a, objective, plan::typicalMachine("cuda:0"), randomRows(p.a, random));
        const plan::Plan plan = best(p, bare).plan;
        const auto edges = p.a.info(index).dims.at(0);
        const ir::RowClass on{ir::RowKind::Batch, edges, {}};
        CHECK(bare.read(index, on, edges) == bare.read(column, on, edges));
        placement::Residency all{.tables = test::storedBy(plan), .structure = true};
        for (const ir::NamedValue& in : p.a.program.inputs) all.tables.insert(in.value);
        const auto total = [&](const placement::Residency& here) {
            return placement::accountOf(p.a, bare.with(here), plan).total();
        };
        CHECK(total(all) == doctest::Approx(total({.everything = true})));
        CHECK(total(all) < total({}));
    }
}

TEST_CASE("what a decision saves is what the plan with the opposite pin costs more")
{
    const Analysed p(skip);
    int decisions = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const placement::CostModel costs(p.a, Objective::Time, {}, randomRows(p.a, random));
        const placement::Optimum optimum = best(p, costs);
        const auto told = optimiser::explain(optimum.model.instance, optimum.placement);
        REQUIRE(told);
        for (const optimiser::Explanation& e : *told) {
            if (e.kind == optimiser::DecisionKind::Delayed || !e.alternative) continue;
            const PinKind opposite =
                e.kind == optimiser::DecisionKind::Stored ? PinKind::NoCheckpoint : PinKind::NoRecompute;
            const double other =
                best(p, costs, {{opposite, optimum.model.origins[e.node.at()].value}}).plan.cost.value();
            const double cost = optimum.plan.cost.value();
            CHECK(e.saves >= -1e-6 * cost);
            CHECK(e.saves == doctest::Approx(other - cost).epsilon(1e-3).scale(cost));
            ++decisions;
        }
    }
    CHECK(decisions > 20);
}

TEST_CASE("a cut consumer reads its operand wherever it is computed")
{
    const Analysed p(skip);
    const ir::ValueId relu = p.value("relu"), linear = p.value("linear", 1);
    std::mt19937_64 random(5);
    const placement::CostModel costs(p.a, Objective::Time, {}, randomRows(p.a, random));
    const placement::Optimum cut = best(p, costs, {{PinKind::Cut, relu, linear}});
    CHECK(test::flaw(p.a, cut.plan) == "");
    CHECK(test::storedBy(cut.plan).contains(relu));
    for (const plan::Stage& stage : cut.plan.stages)
        for (const plan::Loop& loop : stage.loops)
            for (const plan::Step& step : loop.steps)
                if (step.op == p.a.program.value(linear).producer)
                    CHECK(std::ranges::find(loop.reads, plan::Access{relu, step.rows}) != loop.reads.end());
}

TEST_CASE("a gather runs in the stage of its pin, and no stage before it is empty")
{
    const Analysed p(skip);
    std::mt19937_64 random(5);
    const placement::CostModel costs(p.a, Objective::Time, {}, randomRows(p.a, random));
    for (const auto& [hop, gather, stage] : {std::tuple(p.value("index_add", 0), p.value("index_select", 0), 2),
                                             std::tuple(p.value("index_select", 1), p.value("index_select", 1), 3)}) {
        const placement::Optimum later = best(p, costs, {{PinKind::HopStage, hop, {}, plan::StageId(stage)}});
        CHECK(test::flaw(p.a, later.plan) == "");
        CHECK(stepsOf(p, later.plan, gather) == 1);
        CHECK(stepsOf(p, later.plan, gather, stage) == 1);
        for (std::size_t i = 0; i < later.plan.stages.size(); ++i) {
            CHECK(later.plan.stages[i].index == plan::StageId::at(i));
            CHECK_FALSE(later.plan.stages[i].loops.empty());
        }
    }
    const auto tooLate =
        placement::optimise(p.a, costs, {{PinKind::HopStage, p.value("index_add", 0), {}, plan::StageId(99)}}, {});
    REQUIRE_FALSE(tooLate);
    CHECK(tooLate.error().message.find("in stage 99") != std::string::npos);
}

TEST_CASE("what is pinned to be computed once is computed once, for a price")
{
    const Analysed p(twoLayers + "q = aten::linear(input=lin1, weight=w2, bias=none) -> f[7,3]\n" +
                     "s = aten::add.Tensor(self=h2, other=q, alpha=1) -> f[7,3]\nout = s\n");
    const ir::ValueId linear = p.value("linear", 0);
    int moreExpensive = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const placement::CostModel costs(p.a, Objective::Bytes, {}, randomRows(p.a, random));
        const placement::Optimum free = best(p, costs), once = best(p, costs, {{PinKind::NoRecompute, linear}});
        CHECK(test::flaw(p.a, once.plan) == "");
        CHECK(stepsOf(p, once.plan, linear) == 1);
        CHECK(once.plan.cost.value() >= free.plan.cost.value() * (1 - 1e-6));
        moreExpensive += stepsOf(p, free.plan, linear) > 1 && once.plan.cost.value() > free.plan.cost.value();
    }
    CHECK(moreExpensive > 0);
}

TEST_CASE("at most so many stages, a first one without gathers among them")
{
    const Analysed p(twoLayers + "out = h2\n");
    std::mt19937_64 random(5);
    const placement::CostModel costs(p.a, Objective::Time, {}, randomRows(p.a, random));
    placement::OptimiseOptions options;
    for (const int stages : {2, 3, 6}) {
        options.stages = stages;
        const auto optimum = placement::optimise(p.a, costs, {}, options);
        REQUIRE(optimum);
        CHECK(optimum->plan.stages.size() <= static_cast<std::size_t>(stages));
    }
    options.stages = 1;
    const auto none = placement::optimise(p.a, costs, {}, options);
    REQUIRE_FALSE(none);
    CHECK(none.error().message == "the model needs at least 2 stages");
}

TEST_CASE("near a plan, pins are kept at no less than the optimum's cost, and without a bound")
{
    const Analysed p(skip);
    int compared = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const placement::CostModel costs(p.a, Objective::Time, {}, randomRows(p.a, random));
        const placement::Optimum free = best(p, costs);
        for (const ir::ValueId v : {p.value("linear", 0), p.value("relu"), p.value("linear", 1)})
            for (const PinKind kind : {PinKind::Checkpoint, PinKind::NoCheckpoint, PinKind::NoRecompute}) {
                const std::vector<Pin> pins{{kind, v}};
                const auto exact = placement::optimise(p.a, costs, pins, {});
                const auto near = placement::optimise(p.a, costs, pins, {}, &free);
                CHECK(near.has_value() == exact.has_value());
                if (!near || !exact) continue;
                CHECK(test::flaw(p.a, near->plan) == "");
                CHECK(near->plan.cost.value() >= exact->plan.cost.value() * (1 - 1e-6));
                CHECK_FALSE(near->plan.gap.has_value());
                const placement::Optimum back = best(p, costs, {}, &*near);
                CHECK(back.plan.cost.value() >= free.plan.cost.value() * (1 - 1e-6));
                ++compared;
            }
    }
    CHECK(compared > 100);
}
