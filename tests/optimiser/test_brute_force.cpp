#include <chrono>

#include "brute.h"
#include "fixture.h"
#include "judge.h"
#include "optimiser/min_cut_relaxation.h"
#include "optimiser/solve.h"
#include "random_instances.h"
#include "solver/mip.h"
#include "support/cheapest_cut.h"
#include "support/generate_instance.h"

using namespace hopscope;
using namespace hopscope::optimiser;

namespace {

void checkPlan(const Instance& in, const Answer& answer, double optimum)
{
    const double cost = answer.placement.cost.total();
    CHECK(test::flaw(in, answer.placement) == "");
    CHECK(test::costOf(in, answer.placement) == doctest::Approx(cost));
    CHECK(test::peakOf(in, answer.placement) == doctest::Approx(answer.placement.hostPeak));
    CHECK(answer.lowerBound <= optimum * (1 + 1e-6) + 1e-9);
    CHECK(cost >= optimum * (1 - 1e-9) - 1e-9);
}

// The optimiser as it is, its programs alone with and without reductions, and local search against the oracle. Whether
// there is a legal plan.
bool agree(const Instance& in)
{
    INFO(test::dump(in));
    const base::Status status = check(in);
    REQUIRE_MESSAGE(status, (status ? "" : base::describe(status.error())));
    const std::optional<double> optimum = test::bruteForce(in);
    if (optimum) CHECK(cutBound(in) <= *optimum * (1 + 1e-9) + 1e-9);
    struct Way {
        Strategy strategy;
        bool reduced, search;
    };
    for (const auto& [strategy, reduced, search] :
         {Way{Strategy::Optimal, true, true}, Way{Strategy::Optimal, true, false}, Way{Strategy::Optimal, false, false},
          Way{Strategy::LocalSearch, true, true}}) {
        Options options;
        options.strategy = strategy;
        options.reduce = reduced;
        options.search = search;
        CAPTURE(base::nameOf(strategy));
        CAPTURE(reduced);
        CAPTURE(search);
        const auto answer = solve(in, options);
        const bool complete = strategy == Strategy::Optimal && solver::available();
        if (complete) REQUIRE_MESSAGE(answer, (answer ? "" : base::describe(answer.error())));
        if (!answer) continue;
        if (complete) CHECK((answer->status == Status::Infeasible) == !optimum);
        REQUIRE((optimum || answer->status == Status::Infeasible));
        if (answer->status == Status::Infeasible) continue;
        checkPlan(in, *answer, *optimum);
        if (!complete) continue;
        CHECK(answer->status == Status::Optimal);
        CHECK(answer->placement.cost.total() == doctest::Approx(*optimum).epsilon(1e-6));
    }
    return optimum.has_value();
}

// How many of the instances have a legal plan.
template <class Make>
int agreeOnAll(int count, const Make& make)
{
    int legal = 0;
    for (int i = 0; i < count / test::share; ++i) legal += agree(make(i)) ? 1 : 0;
    return legal;
}

// Of the family's members with seeds from i on the first that is small enough for the oracle.
Instance family(int i)
{
    GenerateOptions options;
    options.family = families()[static_cast<std::size_t>(i) % families().size()];
    options.layers = 1 + i % 2;
    options.nodes = 5 + i % 4;
    options.types = i % 4 == 3 ? 2 : 1;
    for (options.seed = static_cast<std::uint64_t>(i);; options.seed += 7919) {
        Instance in = generate(options);
        if (in.nodes.size() <= 11) return in;
        options.layers = 1;
        if (options.seed > 7919 * 50) options.types = 1;
    }
}

Instance withBudget(Instance in, int i)
{
    const auto free = solve(in);
    const double fraction = 0.5 + 0.1 * (i % 6);
    if (free && free->status != Status::Infeasible) in.hostBudget = free->placement.hostPeak * fraction;
    return in;
}

}  // namespace

TEST_CASE("random graphs are solved to the optimum that exhaustive search finds")
{
    CHECK(agreeOnAll(800, [](int i) { return test::wildInstance(static_cast<std::uint64_t>(i), 5 + i % 6); }) > 0);
}

TEST_CASE("random graphs with pins are solved, or proven to have no plan, as exhaustive search says")
{
    const int legal = agreeOnAll(600, [](int i) {
        Instance in = test::wildInstance(static_cast<std::uint64_t>(i) + 5000, 5 + i % 5);
        test::addPins(in, static_cast<std::uint64_t>(i));
        return in;
    });
    CHECK(legal > 50 / test::share);
    CHECK(legal < 600 / test::share);
}

TEST_CASE("small members of the nine families are solved to the optimum, on one and two types")
{
    CHECK(agreeOnAll(450, family) == 450 / test::share);
}

TEST_CASE("regions of ops between two hops are solved to the optimum, within a budget, too")
{
    CHECK(agreeOnAll(600, [](int i) { return test::regionInstance(static_cast<std::uint64_t>(i), 3 + i % 4); }) > 0);
}

// h -> v, h -> r, u(v, r), and a hop that gathers u and uses r: to store u instead of v, r would have to be computed twice.
TEST_CASE("an op stays storable where what lies beside it is used by others, too")
{
    Instance in;
    in.name = "used beside";
    in.types = {"a"};
    in.relations = {{"e", 0.0}};
    const auto add = [&](NodeKind kind, std::vector<NodeId> src, std::vector<NodeId> loc, double store, double onD,
                         double onF) {
        Node node = test::nodeFor(in, kind, std::move(src), std::move(loc));
        node.write = kind == NodeKind::Input ? 0 : store;
        node.readD = node.size = store;
        node.readF = {store};
        node.computeD = onD;
        node.computeF = {onF};
        in.nodes.push_back(std::move(node));
        return NodeId(in.nodes.size() - 1);
    };
    const NodeId x = add(NodeKind::Input, {}, {}, 1, 0, 0), h = add(NodeKind::Hop, {x}, {}, 1, 0, 0);
    const NodeId r = add(NodeKind::Op, {}, {h}, 6, 4, 4), v = add(NodeKind::Op, {}, {h}, 1, 4, 10);
    const NodeId u = add(NodeKind::Op, {}, {v, r}, 1, 0, 0);
    in.outputs = {add(NodeKind::Hop, {u}, {r}, 1, 0, 0)};
    in.stages = 2;
    CHECK(agree(in));
    CHECK(test::bruteForce(in) == solve(in)->placement.cost.total());
}

TEST_CASE("random graphs with a host budget are solved to the optimum")
{
    CHECK(agreeOnAll(250, [](int i) {
              return withBudget(test::wildInstance(static_cast<std::uint64_t>(i) + 9000, 5 + i % 4), i);
          }) > 0);
}

TEST_CASE("the minimum cut costs what the cheapest of all cuts does, with its stored values alone")
{
    int cut = 0;
    for (int i = 0; i < 1500 / test::share; ++i) {
        const Instance in = test::wildInstance(static_cast<std::uint64_t>(i) + 20000, 4 + i % 6);
        const test::CheapestCut all(in);
        if (all.edges() > 12) continue;
        INFO(test::dump(in));
        const MinCutRelaxation shown = minCutRelaxation(in);
        CHECK(shown.cost == doctest::Approx(all.cost()));
        const std::set<NodeId> stored(shown.storedNodes.begin(), shown.storedNodes.end());
        CHECK(shown.cost == doctest::Approx(all.costWith([&](std::size_t v) { return stored.contains(NodeId(v)); })));
        cut += shown.cost > 0 ? 1 : 0;
    }
    CHECK(cut > 100 / test::share);
}
