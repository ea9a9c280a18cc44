#include "fixture.h"
#include "judge.h"
#include "optimiser/evaluate.h"
#include "optimiser/infeasible_subset.h"
#include "optimiser/reoptimise.h"
#include "random_instances.h"
#include "solver/mip.h"
#include "support/generate_instance.h"

using namespace hopscope;
using namespace hopscope::optimiser;

namespace {

Instance member(int i)
{
    GenerateOptions options;
    options.family = families()[static_cast<std::size_t>(i) % families().size()];
    options.nodes = 20 + i % 40;
    options.types = i % 5 == 4 ? 2 : 1;
    options.seed = static_cast<std::uint64_t>(i) + 40;
    return generate(options);
}

Answer solved(const Instance& in)
{
    const auto answer = solve(in);
    REQUIRE_MESSAGE(answer, (answer ? "" : base::describe(answer.error())));
    return *answer;
}

Instance with(Instance in, const std::vector<std::size_t>& pins, bool budget)
{
    const std::vector<Pin> all = in.pins;
    in.pins.clear();
    for (const std::size_t i : pins) in.pins.push_back(all[i]);
    if (!budget) in.hostBudget.reset();
    return in;
}

bool feasible(const Instance& in)
{
    Options options;
    options.reduce = in.hostBudget.has_value();  // whole programs with a budget take long to refute
    const auto answer = solve(in, options);
    REQUIRE_MESSAGE(answer, (answer ? "" : base::describe(answer.error())));
    return answer->status != Status::Infeasible;
}

// The named subset has no plan, every smaller one has; every repair makes the whole instance feasible at its price.
void checkConflict(const Instance& in, const InfeasibleSubset& conflict)
{
    CHECK_FALSE(feasible(with(in, conflict.pins, conflict.budget)));
    for (std::size_t i = 0; i < conflict.pins.size(); ++i) {
        std::vector<std::size_t> fewer = conflict.pins;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        CHECK(feasible(with(in, fewer, conflict.budget)));
    }
    if (conflict.budget) CHECK(feasible(with(in, conflict.pins, false)));
    CHECK_FALSE(conflict.repairs.empty());
    double before = 0;
    for (const Repair& repair : conflict.repairs) {
        const Instance mended = repaired(in, repair);
        INFO(describeRepair(in, repair));
        CHECK(test::flaw(mended, repair.answer.placement) == "");
        CHECK(test::costOf(mended, repair.answer.placement) == doctest::Approx(repair.answer.placement.cost.total()));
        if (repair.answer.status == Status::Optimal && !in.hostBudget)
            CHECK(repair.answer.placement.cost.total() == doctest::Approx(solved(mended).placement.cost.total()));
        CHECK(repair.answer.placement.cost.total() >= before);
        before = repair.answer.placement.cost.total();
    }
}

}  // namespace

TEST_CASE("300 random sets of pins are kept, or explained by a minimal conflict with repairs that work")
{
    if (!solver::available()) return;
    int infeasible = 0, severalPins = 0, stages = 0;
    for (int i = 0; i < 300 / test::share; ++i) {
        Instance in = member(i);
        for (int more = 0; more <= i % 2; ++more) test::addPins(in, static_cast<std::uint64_t>(i) * 17 + 3 + more);
        INFO(test::dump(in));
        const Answer answer = solved(in);
        if (answer.status != Status::Infeasible) {
            CHECK(test::flaw(in, answer.placement) == "");
            continue;
        }
        ++infeasible;
        const auto conflict = explainInfeasibility(in);
        REQUIRE_MESSAGE(conflict, (conflict ? "" : base::describe(conflict.error())));
        CHECK_FALSE(conflict->pins.empty());
        severalPins += conflict->pins.size() > 1 ? 1 : 0;
        for (const Repair& r : conflict->repairs) stages += r.kind == RepairKind::MoreStages ? 1 : 0;
        checkConflict(in, *conflict);
    }
    MESSAGE(infeasible << " of " << 300 / test::share << " sets are infeasible, " << severalPins
                       << " for several pins, " << stages << " mended by more stages");
    CHECK(infeasible >= 30 / test::share);
    CHECK(stages > 0);
}

TEST_CASE("reductions keep the optimum of larger instances, with pins and on two types")
{
    if (!solver::available()) return;
    int compared = 0;
    for (int i = 0; i < 150 / test::share; ++i) {
        Instance in = member(i + 500);
        if (i % 2 == 1) test::addPins(in, static_cast<std::uint64_t>(i));
        INFO(test::dump(in));
        const Answer reduced = solved(in);
        Options options;
        options.reduce = options.search = false;
        const auto whole = solve(in, options);
        REQUIRE_MESSAGE(whole, (whole ? "" : base::describe(whole.error())));
        CHECK(whole->status == reduced.status);
        CHECK(whole->placement.cost.total() == doctest::Approx(reduced.placement.cost.total()).epsilon(1e-6));
        compared += whole->status == Status::Optimal ? 1 : 0;
    }
    CHECK(compared > 90 / test::share);
}

TEST_CASE("two conflicts at once are mended by dropping a pin of each")
{
    if (!solver::available()) return;
    Instance in = test::cases().instances[0];  // gcn2_plain: x0, conv0, relu, conv1
    const NodeId conv0(std::size_t{1}), relu(std::size_t{2});
    in.pins = {{PinKind::Checkpoint, conv0, {}, 0},
               {PinKind::NoCheckpoint, conv0, {}, 0},
               {PinKind::Checkpoint, relu, {}, 0},
               {PinKind::NoCheckpoint, relu, {}, 0}};
    const auto conflict = explainInfeasibility(in);
    REQUIRE(conflict);
    CHECK(conflict->pins.size() == 2);
    checkConflict(in, *conflict);
    for (const Repair& r : conflict->repairs) CHECK(r.pins.size() == 2);
}

TEST_CASE("without prices the repairs are the same, and without larger numbers of stages the others")
{
    if (!solver::available()) return;
    const auto ways = [](const InfeasibleSubset& conflict, bool moreStages) {
        std::set<std::pair<int, std::vector<std::size_t>>> found;
        for (const Repair& r : conflict.repairs)
            if (moreStages || r.kind != RepairKind::MoreStages) found.emplace(r.stages, r.pins);
        return found;
    };
    int conflicts = 0, more = 0;
    for (int i = 0; i < 90 / test::share; ++i) {
        Instance in = member(i);
        test::addPins(in, static_cast<std::uint64_t>(i) * 17 + 3);
        const auto priced = explainInfeasibility(in);
        if (!priced) continue;
        INFO(test::dump(in));
        const auto unpriced = explainInfeasibility(in, {}, {.prices = false, .moreStages = true});
        const auto asGiven = explainInfeasibility(in, {}, {.prices = false, .moreStages = false});
        REQUIRE((unpriced && asGiven));
        CHECK(priced->pins == unpriced->pins);
        CHECK(priced->pins == asGiven->pins);
        CHECK(ways(*priced, true) == ways(*unpriced, true));
        CHECK(ways(*priced, false) == ways(*asGiven, true));
        for (const Repair& r : unpriced->repairs) CHECK(r.answer.placement.stages.empty());
        more += ways(*unpriced, true) == ways(*asGiven, true) ? 0 : 1;
        ++conflicts;
    }
    CHECK(conflicts >= 6 / test::share);
    CHECK(more > 0);
}

TEST_CASE("too few stages are a conflict without pins, mended by more")
{
    if (!solver::available()) return;
    Instance in = test::cases().instances[0];
    in.stages = 1;
    const auto conflict = explainInfeasibility(in);
    REQUIRE(conflict);
    CHECK(conflict->pins.empty());
    CHECK_FALSE(conflict->budget);
    REQUIRE(conflict->repairs.size() == 1);
    CHECK(conflict->repairs[0].stages == 2);
    CHECK(conflict->repairs[0].answer.placement.cost.total() == doctest::Approx(43));
}

TEST_CASE("a budget that is too small is named, with the smallest that suffices")
{
    if (!solver::available()) return;
    const int count = 20 / test::share;
    int checked = 0;
    for (int i = 0; i < count; ++i) {
        Instance in = member(i);
        INFO(test::dump(in));
        const auto least = minimalHostPeak(in);
        REQUIRE_MESSAGE(least, (least ? "" : base::describe(least.error())));
        in.hostBudget = *least;
        const Answer tight = solved(in);
        REQUIRE(tight.status == Status::Optimal);
        CHECK(test::flaw(in, tight.placement) == "");
        CHECK(test::peakOf(in, tight.placement) <= *least * (1 + 1e-6));
        in.hostBudget = *least * 0.99;
        CHECK(solved(in).status == Status::Infeasible);
        Options options;
        options.deadlineSeconds = 60;
        const auto conflict = explainInfeasibility(in, options);
        REQUIRE_MESSAGE(conflict, (conflict ? "" : base::describe(conflict.error())));
        CHECK(conflict->budget);
        for (const Repair& r : conflict->repairs)
            if (r.kind == RepairKind::RaiseBudget) checked += r.budget == doctest::Approx(*least) ? 1 : 0;
        checkConflict(in, *conflict);
    }
    CHECK(checked == count);
}

TEST_CASE("a feasible instance has no conflict")
{
    if (!solver::available()) return;
    CHECK(explainInfeasibility(test::cases().instances[0]).error().code == base::ErrorCode::Input);
}

TEST_CASE("around a new pin there is a legal plan that keeps all pins, near the optimum, wherever there is one")
{
    int same = 0, all = 0;
    for (int i = 0; i < 200 / test::share; ++i) {
        Instance in = member(i);
        const auto before = solve(in);
        REQUIRE(before);
        test::addPins(in, static_cast<std::uint64_t>(i) * 31 + 7);
        in.pins.resize(1);
        INFO(test::dump(in));
        const auto answer = reoptimise(in, before->placement, in.pins);
        if (!answer && !solver::available()) continue;
        REQUIRE_MESSAGE(answer, (answer ? "" : base::describe(answer.error())));
        if (!solver::available()) {
            if (answer->status != Status::Infeasible) CHECK(test::flaw(in, answer->placement) == "");
            continue;
        }
        const Answer best = solved(in);
        CHECK((answer->status == Status::Infeasible) == (best.status == Status::Infeasible));
        if (best.status == Status::Infeasible) continue;
        CHECK(test::flaw(in, answer->placement) == "");
        const double cost = answer->placement.cost.total(), optimum = best.placement.cost.total();
        CHECK(cost >= optimum * (1 - 1e-9));
        CHECK(cost <= optimum * 1.5);
        ++all;
        same += cost <= optimum * (1 + 1e-4) ? 1 : 0;
    }
    CHECK(same * 10 >= all * 8);
}
