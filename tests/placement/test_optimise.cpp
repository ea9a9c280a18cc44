#include <numeric>

#include "analysis/naming/value_names.h"
#include "placement/account.h"
#include "placement/judge.h"
#include "placement/model_instance.h"
#include "placement/optimise.h"
#include "placement/random_model.h"
#include "placement/row_counts.h"
#include "placement/store_search.h"

using namespace hopscope;
using placement::Objective;
using test::Analysed;
using test::flaw;
using test::randomRows;
using test::storedBy;
using test::twoLayers;

namespace {

const std::string skip = twoLayers + "s = aten::add.Tensor(self=h2, other=lin2, alpha=1) -> f[7,3]\nout = s\n";

double total(const std::vector<double>& costs) { return std::accumulate(costs.begin(), costs.end(), 0.0); }

// Gathers are never stored by an optimal plan.
std::vector<ir::ValueId> storable(const Analysed& p)
{
    std::vector<ir::ValueId> values = p.rowValues();
    std::erase_if(values, [&](ir::ValueId v) {
        return p.a.info(p.a.program.value(v).producer).kind == analysis::OpKind::Gather;
    });
    return values;
}

// Every set of stored values that is legal, with each value computed as early as it can be.
double cheapestOfAllSets(const Analysed& p, const placement::CostModel& costs)
{
    const std::vector<ir::ValueId> values = storable(p);
    double cheapest = 1e300;
    for (unsigned bits = 0; bits < (1u << values.size()); ++bits) {
        std::set<ir::ValueId> stored;
        for (std::size_t i = 0; i < values.size(); ++i)
            if (bits & (1u << i)) stored.insert(values[i]);
        const auto plan = placement::evaluate(p.a, stored);
        if (plan) cheapest = std::min(cheapest, total(placement::stageCosts(p.a, costs, *plan)));
    }
    return cheapest;
}

// The plan that is cheapest by its own account, which is counted again.
placement::Optimum soundOptimum(const Analysed& p, const placement::CostModel& costs)
{
    auto optimum = placement::optimise(p.a, costs, {}, {});
    if (!optimum) FAIL(base::describe(optimum.error()));
    CHECK(flaw(p.a, optimum->plan) == "");
    const double cost = total(placement::stageCosts(p.a, costs, optimum->plan));
    CHECK(cost == doctest::Approx(optimum->plan.cost.value()).epsilon(1e-6));
    return std::move(*optimum);
}

placement::CostModel randomCosts(const Analysed& p, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    return {p.a, seed % 2 ? Objective::Time : Objective::Bytes, {}, randomRows(p.a, random)};
}

}  // namespace

TEST_CASE("the optimum is a sound plan of the stated cost, and no set of stores is cheaper than its bound")
{
    const Analysed p(skip);
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        const placement::CostModel costs = randomCosts(p, seed);
        const plan::Plan plan = soundOptimum(p, costs).plan;
        CHECK(plan.gap.value() == doctest::Approx(0));
        const double other = cheapestOfAllSets(p, costs);
        CHECK(plan.cost.value() <= other * (1 + 1e-6));
        CHECK(plan.lowerBound.value() <= other * (1 + 1e-6));
    }
}

TEST_CASE("where bytes weigh a little more, the optimum is nearly as fast and moves no more of them")
{
    plan::Machine machine;
    machine.call = 1e-5;   // as much as the bytes: the work of small graphs...
    machine.batch = 1e-2;  // ...most of which no plan can spare
    int leaner = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        const Analysed p(test::randomModel(seed, 24));
        std::mt19937_64 random(seed);
        const plan::RowCounts rows = randomRows(p.a, random);
        const placement::CostModel time(p.a, Objective::Time, machine, rows),
            bytes(p.a, Objective::Bytes, machine, rows);
        const auto seconds = [&](const plan::Plan& plan) { return total(placement::stageCosts(p.a, time, plan)); };
        const auto moved = [&](const plan::Plan& plan) { return total(placement::stageCosts(p.a, bytes, plan)); };
        const plan::Plan fastest = soundOptimum(p, time).plan;
        const plan::Plan lean = soundOptimum(p, time.leaning(0.02 * seconds(fastest) / moved(fastest))).plan;
        CHECK(seconds(lean) <= 1.02 * seconds(fastest) * (1 + 1e-6));
        CHECK(moved(lean) <= moved(fastest) * (1 + 1e-6));
        leaner += moved(lean) < 0.99 * moved(fastest) ? 1 : 0;
    }
    CHECK(leaner > 0);
    MESSAGE(leaner << " of 40 plans move fewer bytes");
}

TEST_CASE("the nodes of an instance are named after the value, the operator and where it is called")
{
    const Analysed p(skip);
    const auto model = placement::makeInstance(p.a, placement::CostModel(p.a, Objective::Time, {}, {}));
    if (!model) FAIL(base::describe(model.error()));
    const analysis::ValueNames names(p.a);
    for (std::size_t i = 0; i < model->origins.size(); ++i) {
        const std::string& name = model->instance.nodes[i].name;
        const ir::ValueId value = model->origins[i].value;
        CAPTURE(name);
        CHECK(name.starts_with(names[value]));
        CHECK(name.find(analysis::placeOfValue(p.a, value)) != std::string::npos);
        CHECK(name.find(ir::valueName(value)) == std::string::npos);
    }
}

TEST_CASE("a dear write is avoided by recomputing, a dear computation by storing")
{
    const Analysed p(twoLayers + "out = h2\n");
    std::mt19937_64 random(1);
    const plan::RowCounts rows = randomRows(p.a, random);
    plan::Machine slowStore, slowProcessor;
    slowStore.write = 1;
    slowProcessor.matmul = slowProcessor.elementwise = 1;
    slowProcessor.call = 0;
    const auto storing = [&](const plan::Machine& machine) {
        const auto optimum = placement::optimise(p.a, {p.a, Objective::Time, machine, rows}, {}, {});
        if (!optimum) FAIL(base::describe(optimum.error()));
        return storedBy(optimum->plan);
    };
    // Three columns are narrower than six; the product is on the destination rows instead of the frontier.
    CHECK(storing(slowStore).contains(p.value("linear", 1)));
    CHECK(storing(slowProcessor).contains(p.value("linear", 1)));
    CHECK(storing(slowProcessor).contains(p.value("linear", 0)));
}

TEST_CASE("the optimum keeps to pins")
{
    const Analysed p(skip);
    std::mt19937_64 random(3);
    const placement::CostModel costs(p.a, Objective::Time, {}, randomRows(p.a, random));
    const double free = placement::optimise(p.a, costs, {}, {}).value().plan.cost.value();
    for (const ir::ValueId v : storable(p)) {
        CAPTURE(v.index);
        const auto with = placement::optimise(p.a, costs, {{plan::PinKind::Checkpoint, v}}, {});
        const auto without = placement::optimise(p.a, costs, {{plan::PinKind::NoCheckpoint, v}}, {});
        if (!with) FAIL(base::describe(with.error()));
        CHECK(flaw(p.a, with->plan) == "");
        CHECK(storedBy(with->plan).contains(v));
        CHECK(with->plan.cost.value() >= free * (1 - 1e-6));
        if (!without) continue;
        CHECK(flaw(p.a, without->plan) == "");
        CHECK_FALSE(storedBy(without->plan).contains(v));
        CHECK(without->plan.cost.value() >= free * (1 - 1e-6));
    }
}

TEST_CASE("a store takes memory from the stage that writes it to the last one that reads it, a result to the end")
{
    const ir::ValueId early(1), late(2), result(3);
    const auto stage = [](int number, std::vector<ir::ValueId> read) {
        plan::Stage made{plan::StageId(number), {plan::Loop{}}, {}};
        for (const ir::ValueId v : read) made.loops[0].reads.push_back({v, {}});
        return made;
    };
    const auto peak = [&](std::int64_t ofEarly, std::int64_t ofLate, std::int64_t ofResult) {
        plan::Plan plan;
        plan.stages = {stage(1, {}), stage(2, {early}), stage(3, {late}), stage(4, {})};
        plan.checkpoints = {{early, plan::StageId(1), false, ofEarly, std::nullopt},
                            {late, plan::StageId(2), false, ofLate, std::nullopt},
                            {result, plan::StageId(3), true, ofResult, std::nullopt}};
        return placement::hostPeak(plan);
    };
    CHECK(peak(100, 10, 1) == 110);
    CHECK(peak(1, 10, 100) == 110);
    CHECK(peak(10, 1, 100) == 101);
}

TEST_CASE("pins that leave no plan are named with a fix")
{
    const Analysed p(twoLayers + "out = h2\n");
    std::mt19937_64 random(3);
    const placement::CostModel costs(p.a, Objective::Time, {}, randomRows(p.a, random));
    std::vector<plan::Pin> pins;
    for (const ir::ValueId v : storable(p))
        if (v != p.value("index_add", 1)) pins.push_back({plan::PinKind::NoCheckpoint, v});
    const auto optimum = placement::optimise(p.a, costs, pins, {});
    REQUIRE(!optimum);
    CHECK(optimum.error().code == base::ErrorCode::Unsupported);
    CHECK(optimum.error().message.find("no legal plan respects every pin: ") == 0);
    CHECK(!optimum.error().hint.empty());
}

namespace {

// Edges are compared at both ends; sources sum what they find in two rounds.
const std::string bothEnds = twoLayers + R"(
y1 = aten::index_select(self=lin1, dim=0, index=dst) -> f[9,6]
d = aten::sub.Tensor(self=m1, other=y1, alpha=1) -> f[9,6]
edge = aten::relu(self=d) -> f[9,6]
there = aten::index_add(self=z1, dim=0, index=dst, source=edge, alpha=1) -> f[7,6]
here = aten::index_add(self=z1, dim=0, index=src, source=edge, alpha=1) -> f[7,6]
g = aten::index_select(self=here, dim=0, index=dst) -> f[9,6]
p = aten::mul.Tensor(self=edge, other=g) -> f[9,6]
again = aten::index_add(self=z1, dim=0, index=src, source=p, alpha=1) -> f[7,6]
out = there, again
)";

// The same messages, in a shape of their own, in two rounds.
const std::string sameMessages = twoLayers + R"(
v = aten::reshape(self=m1, shape=[-1, 6]) -> f[9,6]
once = aten::index_add(self=z1, dim=0, index=dst, source=v, alpha=1) -> f[7,6]
g = aten::index_select(self=once, dim=0, index=src) -> f[9,6]
p = aten::mul.Tensor(self=v, other=g) -> f[9,6]
out2 = aten::index_add(self=z1, dim=0, index=dst, source=p, alpha=1) -> f[7,6]
out = out2
)";

// Rows in another order are what the next round gathers.
const std::string reordered = R"(
order = key:v>v i[7]
)" + twoLayers + R"(
q = aten::index_select(self=h1, dim=0, index=order) -> f[7,6]
m = aten::index_select(self=q, dim=0, index=src) -> f[9,6]
o = aten::index_add(self=z1, dim=0, index=dst, source=m, alpha=1) -> f[7,6]
out = o
)";

}  // namespace

TEST_CASE("what cannot be stored on the rows on which it is needed is computed in the stage of each consumer")
{
    for (const std::string& text : {bothEnds, sameMessages, reordered}) {
        CAPTURE(text);
        const Analysed p(text);
        std::mt19937_64 random(1);
        for (const Objective objective : {Objective::Time, Objective::Bytes}) {
            const placement::CostModel costs(p.a, objective, {}, randomRows(p.a, random));
            const auto optimum = placement::optimise(p.a, costs, {}, {});
            CHECK_MESSAGE(optimum, (optimum ? "" : base::describe(optimum.error())));
            if (!optimum) continue;
            CHECK(flaw(p.a, optimum->plan) == "");
        }
    }
}

namespace {

// Sums of neighbours are pooled into clusters, which exchange messages and hand them back: rows of nodes by cluster.
const std::string clusters = R"(
x = node f[7,4]
e = index i[2,9]
of = key:v>c i[7]
known = node:c f[3,6]
ce = index:c>c i[2,5]
w = weight f[6,4]
n = scalar::size(self=x, dim=0) -> n7
k = scalar::size(self=known, dim=0) -> n3
src = aten::select(self=e, dim=0, index=0) -> i[9]
dst = aten::select(self=e, dim=0, index=1) -> i[9]
csrc = aten::select(self=ce, dim=0, index=0) -> i[5]
cdst = aten::select(self=ce, dim=0, index=1) -> i[5]
lin = aten::linear(input=x, weight=w, bias=none) -> f[7,6]
m = aten::index_select(self=lin, dim=0, index=src) -> f[9,6]
z = aten::new_zeros(self=lin, size=[n, 6], dtype=none, layout=none, device=none, pin_memory=none) -> f[7,6]
h = aten::index_add(self=z, dim=0, index=dst, source=m, alpha=1) -> f[7,6]
r = aten::relu(self=h) -> f[7,6]
zc = aten::new_zeros(self=known, size=[k, 6], dtype=none, layout=none, device=none, pin_memory=none) -> f[3,6]
pooled = aten::index_add(self=zc, dim=0, index=of, source=r, alpha=1) -> f[3,6]
sum = aten::add.Tensor(self=pooled, other=known, alpha=1) -> f[3,6]
cm = aten::index_select(self=sum, dim=0, index=csrc) -> f[5,6]
near = aten::index_add(self=zc, dim=0, index=cdst, source=cm, alpha=1) -> f[3,6]
back = aten::index_select(self=near, dim=0, index=of) -> f[7,6]
both = aten::add.Tensor(self=back, other=r, alpha=1) -> f[7,6]
)";

const std::string onceMore = R"(
m2 = aten::index_select(self=both, dim=0, index=src) -> f[9,6]
o = aten::index_add(self=z, dim=0, index=dst, source=m2, alpha=1) -> f[7,6]
out = o
)";

// What is narrow is neither what `depth` stores nor what `source-rule` does.
const std::string throughNarrow = R"(
down = weight f[1,6]
up = weight f[6,1]
narrow = aten::linear(input=both, weight=down, bias=none) -> f[7,1]
wide = aten::linear(input=narrow, weight=up, bias=none) -> f[7,6]
m2 = aten::index_select(self=wide, dim=0, index=src) -> f[9,6]
o = aten::index_add(self=z, dim=0, index=dst, source=m2, alpha=1) -> f[7,6]
out = o
)";

}  // namespace

TEST_CASE("rows that are sources and destinations at once have a cheapest plan, too, by trying sets of stores")
{
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        CAPTURE(seed);
        const Analysed p(clusters + (seed <= 4 ? onceMore : throughNarrow));
        const placement::CostModel costs = randomCosts(p, seed);
        const placement::Optimum optimum = soundOptimum(p, costs);
        CHECK_FALSE(optimum.plan.lowerBound);
        CHECK(optimum.plan.cost.value() <= cheapestOfAllSets(p, costs) * (1 + 1e-6));
        const auto again = placement::optimise(p.a, costs, {}, {}, &optimum);  // from a plan without an instance
        CHECK((again && again->plan.stages == optimum.plan.stages));
        placement::OptimiseOptions fewer;
        fewer.stages = static_cast<int>(optimum.plan.stages.size());
        CHECK(placement::optimise(p.a, costs, {}, fewer));
        --*fewer.stages;
        CHECK_FALSE(placement::optimise(p.a, costs, {}, fewer));
    }
}

TEST_CASE("a search through sets of stores moves one along the model where neither more nor fewer of them help")
{
    // What the second round gathers is wide, wanted in the first stage, too, and made of a single column.
    const std::string first = twoLayers.substr(0, twoLayers.find("lin2 = "));
    const Analysed p("down = weight f[1,6]\nup = weight f[6,1]\n" + first + R"(
narrow = aten::linear(input=r1, weight=down, bias=none) -> f[7,1]
wide = aten::linear(input=narrow, weight=up, bias=none) -> f[7,6]
early = aten::tanh(self=wide) -> f[7,6]
m2 = aten::index_select(self=wide, dim=0, index=src) -> f[9,6]
o = aten::index_add(self=z1, dim=0, index=dst, source=m2, alpha=1) -> f[7,6]
out = o, early
)");
    plan::RowCounts rows;
    for (int i = 0; i < static_cast<int>(p.a.tables.spaces.size()); ++i) {
        const ir::SpaceId table(i);
        const bool nodes = p.a.tables.space(table).kind == analysis::SpaceKind::Node;
        rows.tables[table] = nodes ? 100 : 500;
        if (nodes) rows.frontiers[{table, table}] = 300;
    }
    const placement::CostModel costs(p.a, Objective::Bytes, {}, rows);
    const auto plan = placement::searchStores(p.a, costs, {});
    if (!plan) FAIL(base::describe(plan.error()));
    CHECK(flaw(p.a, *plan) == "");
    CHECK(storedBy(*plan).contains(p.value("linear", 1)));
    CHECK_FALSE(storedBy(*plan).contains(p.value("linear", 2)));
    CHECK(plan->cost.value() <= cheapestOfAllSets(p, costs) * (1 + 1e-6));
}
