#include "fixture.h"
#include "judge.h"
#include "optimiser/evaluate.h"
#include "optimiser/explain.h"
#include "random_instances.h"
#include "solver/mip.h"
#include "support/complete_placement.h"
#include "support/generate_instance.h"

using namespace hopscope;
using namespace hopscope::optimiser;

namespace {

base::Result<std::vector<Instance>> read(const json::Value& value) { return readInstances(value, "file.json"); }

json::Value plain() { return writeInstance(test::cases().instances[0]); }

void refused(const json::Value& value, const std::string& words)
{
    const auto found = read(value);
    INFO(words);
    REQUIRE_FALSE(found);
    CHECK(found.error().code == base::ErrorCode::Input);
    const std::string text = base::describe(found.error());
    CHECK_MESSAGE(text.find(words) != std::string::npos, text);
}

}  // namespace

TEST_CASE("an instance that is written reads back equal")
{
    for (int i = 0; i < 100; ++i) {
        Instance in = test::wildInstance(static_cast<std::uint64_t>(i), 9);
        test::addPins(in, static_cast<std::uint64_t>(i));
        if (i % 3 == 0) in.hostBudget = 12.5;
        const auto again = read(writeInstance(in));
        INFO(test::dump(in));
        REQUIRE_MESSAGE(again, (again ? "" : base::describe(again.error())));
        REQUIRE(again->size() == 1);
        CHECK(again->front() == in);
    }
}

TEST_CASE("a placement that is written reads back equal")
{
    for (int i = 0; i < 50; ++i) {
        const Instance in = test::wildInstance(static_cast<std::uint64_t>(i) + 300, 9);
        const auto answer = solve(in);
        if (!answer || answer->status == Status::Infeasible) continue;
        const auto again = readPlacement(in, writePlacement(in, answer->placement), "plan");
        INFO(test::dump(in));
        REQUIRE_MESSAGE(again, (again ? "" : base::describe(again.error())));
        CHECK(again->stages == answer->placement.stages);
        CHECK(again->cost.total() == doctest::Approx(answer->placement.cost.total()));
    }
}

TEST_CASE("what is no instance is refused with its place")
{
    json::Value value = plain();
    value["surprise"] = 1;
    refused(value, "/surprise");
    value = plain();
    value["nodes"] = "none";
    refused(value, "/nodes");
    value = plain();
    value["outputs"] = json::Value(std::vector<std::string>{"nobody"});
    refused(value, "/outputs/0");
    value = plain();
    (*value["nodes"].asArray())[1]["kind"] = "cup";
    refused(value, "/nodes/1/kind");
    value = plain();
    (*value["nodes"].asArray())[1].asObject()->erase("w");
    refused(value, "/nodes/1");
    value = plain();
    (*value["nodes"].asArray())[0].asObject()->erase("rF");
    refused(value, "'x0'");
    value = plain();
    (*value["nodes"].asArray())[2]["loc"] = json::Value(std::vector<std::string>{"conv1"});
    refused(value, "depends on itself");
    value = plain();
    (*value["nodes"].asArray())[2]["cD"] = -1.0;
    refused(value, "'relu'");
    value = plain();
    (*value["nodes"].asArray())[2]["cD"] = 1e6;
    refused(value, "'relu': it costs less on frontier rows of its own type than on its own rows");
    value = plain();
    (*value["nodes"].asArray())[3]["id"] = "relu";
    refused(value, "same name");
    value = plain();
    value["S"] = 0.5;
    refused(value, "/S");
    value = plain();
    value["pins"] = json::Array{json::Value(std::vector<std::string>{"hop_stage", "conv0"})};
    refused(value, "/pins/0");
    value = plain();
    value["pins"] = json::Array{json::Value(std::vector<std::string>{"cut", "conv0", "conv1"})};
    refused(value, "does not use");
    value = plain();
    value["pins"] = json::Array{json::Value(std::vector<std::string>{"checkpoint", "x0"})};
    refused(value, "is an input");
    refused(json::Value(), "object");
    json::Value document;
    document["format"] = "placement-cases/2";
    document["cases"] = json::Value::array();
    refused(document, "/format");
}

TEST_CASE("an illegal placement is refused with the reason")
{
    const Instance& in = test::cases().instances[0];
    const auto answer = solve(in);
    REQUIRE(answer);
    const auto reason = [&](const Placement& p) {
        const auto cost = evaluate(in, p);
        CHECK(test::flaw(in, p).empty() == cost.has_value());
        return cost ? std::string() : cost.error().message;
    };
    Placement p = answer->placement;
    CHECK(reason(p).empty());
    p.stages[0].written.clear();
    CHECK(reason(p).find("read before it is written") != std::string::npos);
    p = answer->placement;
    p.stages[1].stage = p.stages[0].stage;
    CHECK(reason(p).find("ascending order") != std::string::npos);
    p = answer->placement;
    p.stages[0].readF.clear();
    CHECK(reason(p).find("lacks") != std::string::npos);
    p = answer->placement;
    p.stages.pop_back();
    CHECK(reason(p).find("never runs") != std::string::npos);
    p = answer->placement;
    p.stages[1].written.clear();
    CHECK(reason(p).find("not written") != std::string::npos);
    p = answer->placement;
    p.stages[1].stage = 3;
    CHECK(reason(p).find("no such stage") != std::string::npos);
}

TEST_CASE("a placement follows from its stored values alone, or the reason why not")
{
    const Instance& in = test::cases().instances[0];  // gcn2_plain
    const NodeId conv0(std::size_t{1}), relu(std::size_t{2});
    CHECK(complete(in, {{relu}, {}, {}}).value().cost.total() == doctest::Approx(43));
    CHECK(complete(in, {{conv0}, {}, {}}).value().cost.total() == doctest::Approx(45));
    const auto none = complete(in, {});
    REQUIRE_FALSE(none);
    CHECK(none.error().code == base::ErrorCode::Unsupported);
}

TEST_CASE("the stores of an optimum lead back to a legal plan that is not cheaper")
{
    for (int i = 0; i < 100; ++i) {
        const Instance in = test::wildInstance(static_cast<std::uint64_t>(i) + 700, 9);
        const auto answer = solve(in);
        if (!solver::available() || answer->status == Status::Infeasible) continue;
        INFO(test::dump(in));
        Decisions decisions{writtenSet(answer->placement), std::vector<int>(in.nodes.size(), 0),
                            writeStages(in, answer->placement)};
        for (const StagePlacement& s : answer->placement.stages)
            for (const NodeId v : s.hops) decisions.hopStage[v.at()] = s.stage;
        const auto plan = complete(in, decisions);
        REQUIRE_MESSAGE(plan, (plan ? "" : base::describe(plan.error())));
        CHECK(test::flaw(in, *plan) == "");
        CHECK(plan->cost.total() >= answer->placement.cost.total() * (1 - 1e-9));
    }
}

TEST_CASE("every store, recomputation and delay of an optimum saves something or nothing, never less")
{
    if (!solver::available()) return;
    int stored = 0, recomputed = 0, delayed = 0;
    for (std::size_t i = 0; i < families().size(); ++i) {
        GenerateOptions options;
        options.family = families()[i];
        options.nodes = 40;
        options.seed = i;
        const Instance in = generate(options);
        const auto answer = solve(in);
        REQUIRE(answer);
        const auto all = explain(in, answer->placement);
        REQUIRE(all);
        for (const Explanation& e : *all) {
            INFO(in.node(e.node).name);
            stored += e.kind == DecisionKind::Stored ? 1 : 0;
            recomputed += e.kind == DecisionKind::Recomputed ? 1 : 0;
            delayed += e.kind == DecisionKind::Delayed ? 1 : 0;
            CHECK_FALSE(e.stages.empty());
            if (e.alternative) CHECK(e.saves >= -1e-6 * answer->placement.cost.total());
            CHECK(e.possible == e.alternative.has_value());
        }
    }
    CHECK(stored > 5);
    CHECK(recomputed > 0);
    CHECK(delayed >= 0);
}

TEST_CASE("the case of the delayed hop is explained with its price")
{
    if (!solver::available()) return;
    for (const Instance& in : test::cases().instances) {
        if (in.name != "hop_delay") continue;
        const auto answer = solve(in);
        const auto all = explain(in, answer->placement);
        REQUIRE(all);
        const auto delayed = std::ranges::find(*all, DecisionKind::Delayed, &Explanation::kind);
        REQUIRE(delayed != all->end());
        CHECK(in.node(delayed->node).name == "mpB");
        CHECK(delayed->saves == doctest::Approx(13));  // 61 with the hop in its earliest stage, 48 as it is
    }
}

TEST_CASE("the first plan comes at once, bounds rise and plans get cheaper until the proof")
{
    GenerateOptions options;
    options.family = "dense";
    options.nodes = 300;
    const Instance in = generate(options);
    std::vector<Answer> seen;
    Options how;
    how.onImprovement = [&](const Answer& answer) { seen.push_back(answer); };
    const auto answer = solve(in, how);
    REQUIRE(answer);
    REQUIRE_FALSE(seen.empty());
    for (std::size_t i = 0; i < seen.size(); ++i) {
        CHECK(test::flaw(in, seen[i].placement) == "");
        CHECK(seen[i].lowerBound <= answer->placement.cost.total() * (1 + 1e-6));
        if (i == 0) continue;
        CHECK(seen[i].placement.cost.total() <= seen[i - 1].placement.cost.total());
        CHECK(seen[i].lowerBound >= seen[i - 1].lowerBound);
    }
    CHECK(seen.back().placement.cost.total() == answer->placement.cost.total());
}

TEST_CASE("a deadline of nothing still gives a valid plan with a bound, a stop before the start does, too")
{
    GenerateOptions options;
    options.family = "jk";
    options.nodes = 500;
    const Instance in = generate(options);
    Options how;
    how.deadlineSeconds = 0;
    const auto hurried = solve(in, how);
    REQUIRE(hurried);
    CHECK(hurried->status == Status::Feasible);
    CHECK(test::flaw(in, hurried->placement) == "");
    CHECK(hurried->lowerBound > 0);
    std::stop_source source;
    source.request_stop();
    how.deadlineSeconds = 60;
    how.stop = source.get_token();
    const auto stopped = solve(in, how);
    REQUIRE(stopped);
    CHECK(test::flaw(in, stopped->placement) == "");
}

TEST_CASE("a plan from before is a start, whatever it is")
{
    GenerateOptions options;
    options.nodes = 60;
    const Instance in = generate(options);
    const auto first = solve(in);
    REQUIRE(first);
    Options how;
    how.incumbent = &first->placement;
    CHECK(solve(in, how)->placement.cost.total() == doctest::Approx(first->placement.cost.total()));
    const Placement nonsense;
    how.incumbent = &nonsense;
    CHECK(solve(in, how)->placement.cost.total() == doctest::Approx(first->placement.cost.total()));
}

TEST_CASE("the same options make the same instance, of about the wanted size")
{
    for (const std::string& family : families()) {
        GenerateOptions options;
        options.family = family;
        options.nodes = 200;
        const Instance in = generate(options);
        CHECK(in == generate(options));
        CHECK(check(in).has_value());
        CHECK(in.nodes.size() > 120);
        CHECK(in.nodes.size() < 320);
        options.seed = 2;
        CHECK_FALSE(in == generate(options));
    }
}
