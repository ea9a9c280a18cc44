// Walkthroughs: replaying the steps gives the plan that the strategy makes.

#include <algorithm>
#include <random>

#include "placement/account.h"
#include "placement/judge.h"
#include "placement/model_instance.h"
#include "placement/row_counts.h"
#include "placement/walkthrough.h"
#include "support/cheapest_cut.h"

using namespace hopscope;
using plan::WalkStep;
using test::Analysed;
using test::twoLayers;

namespace {

using Stages = std::map<ir::OpId, std::vector<plan::StageId>>;

struct Replayed {
    Stages stages;
    std::set<ir::ValueId> stored;
};

Replayed replay(const std::vector<WalkStep>& steps)
{
    Replayed state;
    for (const WalkStep& step : steps) {
        for (const auto& [op, stages] : step.moved)
            if (stages.empty()) state.stages.erase(op);
            else state.stages[op] = stages;
        if (step.stored) state.stored.insert(*step.stored);
    }
    return state;
}

// Counted from the plan's loops, by sets instead of in their order.
Stages planned(const plan::Plan& plan)
{
    std::map<ir::OpId, std::set<plan::StageId>> sets;
    for (const plan::Stage& stage : plan.stages) {
        for (const ir::OpId op : stage.rowless) sets[op].insert(stage.index);
        for (const plan::Loop& loop : stage.loops) {
            for (const plan::Step& step : loop.steps) sets[step.op].insert(stage.index);
            for (const plan::Step& step : loop.reductions) sets[step.op].insert(stage.index);
        }
    }
    Stages stages;
    for (const auto& [op, in] : sets) stages[op] = {in.begin(), in.end()};
    return stages;
}

std::set<ir::ValueId> between(const plan::Plan& plan)
{
    std::set<ir::ValueId> stored;
    for (const plan::Checkpoint& c : plan.checkpoints)
        if (!c.output) stored.insert(c.value);
    return stored;
}

// Two or three rounds of message passing with element-wise operators and shortcuts between them.
std::string randomProgram(std::mt19937_64& random)
{
    std::string text = R"(
x = node f[7,4]
e = index i[2,9]
w = weight f[4,4]
n = scalar::size(self=x, dim=0) -> n7
src = aten::select(self=e, dim=0, index=0) -> i[9]
dst = aten::select(self=e, dim=0, index=1) -> i[9]
z = aten::new_zeros(self=x, size=[n, 4], dtype=none, layout=none, device=none, pin_memory=none) -> f[7,4]
)";
    std::vector<std::string> values{"x"};
    int made = 0;
    const auto add = [&](const std::string& call, const std::string& shape) {
        values.push_back("t" + std::to_string(made++));
        text += values.back() + " = aten::" + call + " -> f[" + shape + "]\n";
    };
    const auto pick = [&] { return values[random() % values.size()]; };
    const auto transform = [&] {
        if (random() % 3 == 0) add("add.Tensor(self=" + values.back() + ", other=" + pick() + ", alpha=1)", "7,4");
        else if (random() % 2 == 0) add("relu(self=" + values.back() + ")", "7,4");
        else add("linear(input=" + values.back() + ", weight=w, bias=none)", "7,4");
    };
    for (std::uint64_t rounds = 2 + random() % 2; rounds > 0; --rounds) {
        for (std::uint64_t steps = random() % 3; steps > 0; --steps) transform();
        add("index_select(self=" + values.back() + ", dim=0, index=src)", "9,4");
        const std::string messages = values.back();
        values.pop_back();
        add("index_add(self=z, dim=0, index=dst, source=" + messages + ", alpha=1)", "7,4");
    }
    for (std::uint64_t steps = random() % 2; steps > 0; --steps) transform();
    return text + "out = " + values.back() + "\n";
}

const std::vector<std::string> endings{
    "out = h2\n",
    "r = aten::relu(self=h2) -> f[7,3]\nout = r\n",
    "s = aten::add.Tensor(self=h2, other=lin2, alpha=1) -> f[7,3]\nout = s\n",
};

}  // namespace

TEST_CASE("replaying the steps of a walkthrough gives the plan of its rule")
{
    for (const std::string& ending : endings)
        for (const base::Strategy rule : base::rules) {
            const Analysed p(twoLayers + ending);
            CAPTURE(ending);
            const auto plan = placement::makePlan(p.a, rule);
            REQUIRE(plan.has_value());
            const Replayed end = replay(placement::walkthrough(p.a, *plan));
            CHECK(end.stages == planned(*plan));
            CHECK(end.stored == between(*plan));
        }
}

TEST_CASE("the source rule's walkthrough shows each cut that it pulls, and only as far as the rule says")
{
    const Analysed p(twoLayers + "out = h2\n");
    const auto plan = placement::makePlan(p.a, base::Strategy::SourceRule);
    REQUIRE(plan.has_value());
    const std::vector<WalkStep> steps = placement::walkthrough(p.a, *plan);
    CHECK(std::ranges::count(steps, base::WalkKind::Label, &WalkStep::kind) == 1);
    for (const WalkStep& step : steps)
        if (step.kind == base::WalkKind::Pull)
            for (const auto& [op, stages] : step.moved) {
                CHECK(p.a.info(op).depth < stages.front().number);
                CHECK(p.a.program.op(op).name != "aten::index_select");  // message passing stays
            }
}

TEST_CASE("the colouring cuts every path between two hops and costs no more than any plan moves")
{
    std::mt19937_64 random(7);
    for (const std::string& ending : endings) {
        const Analysed p(twoLayers + ending);
        CAPTURE(ending);
        const plan::RowCounts rows = test::randomRows(p.a, random);
        const placement::CostModel costs(p.a, base::Objective::Bytes, {}, rows);
        const auto black = placement::colouring(p.a, costs);
        REQUIRE(black.has_value());
        CHECK(!black->stored.empty());
        for (const base::Strategy rule : base::rules) {
            const auto plan = placement::makePlan(p.a, rule);
            REQUIRE(plan.has_value());
            CHECK(black->cost <= placement::accountOf(p.a, costs, *plan).total() + 1e-9);
        }
        const std::set<ir::ValueId> stored(black->stored.begin(), black->stored.end());
        CHECK(placement::evaluate(p.a, stored).has_value() == !black->missing);
    }
}

TEST_CASE("the cut that is shown costs what the cheapest of all cuts through a program does")
{
    std::mt19937_64 random(11);
    int compared = 0, missing = 0;
    for (int i = 0; i < 150; ++i) {
        const std::string text = randomProgram(random);
        const Analysed p(text);
        CAPTURE(text);
        const placement::CostModel costs(p.a, base::Objective::Bytes, {}, test::randomRows(p.a, random));
        const auto black = placement::colouring(p.a, costs);
        REQUIRE(black.has_value());
        const auto model = placement::makeInstance(p.a, costs);
        REQUIRE(model.has_value());
        const test::CheapestCut all(model->instance);
        if (all.edges() > 12) continue;
        ++compared;
        missing += black->missing ? 1 : 0;
        CHECK(black->cost == doctest::Approx(all.cost()));
        const auto shown = [&](std::size_t node) {
            return std::ranges::find(black->stored, model->origins[node].value) != black->stored.end();
        };
        CHECK(black->cost == doctest::Approx(all.costWith(shown)));
        for (const ir::ValueId value : black->stored)  // none is stored for nothing
            CHECK(all.costWith([&](std::size_t node) { return shown(node) && model->origins[node].value != value; }) >
                  black->cost * (1 - 1e-9));
    }
    CHECK(compared > 100);
}
