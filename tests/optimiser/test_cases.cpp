#include "fixture.h"
#include "judge.h"
#include "optimiser/baseline.h"
#include "optimiser/evaluate.h"
#include "optimiser/min_cut_relaxation.h"
#include "optimiser/solve.h"
#include "solver/mip.h"

using namespace hopscope;
using namespace hopscope::optimiser;
using test::cases;
using test::number;

namespace {

std::set<std::string> names(const Instance& in, const std::vector<NodeId>& ids)
{
    std::set<std::string> all;
    for (const NodeId v : ids) all.insert(in.node(v).name);
    return all;
}

std::set<std::string> strings(const json::Value& list)
{
    std::set<std::string> all;
    for (const json::Value& item : *list.asArray()) all.insert(*item.asString());
    return all;
}

// Each case with its document.
template <class Function>
void forEachCase(const Function& function)
{
    for (std::size_t i = 0; i < cases().instances.size(); ++i) {
        INFO(cases().instances[i].name);
        function(cases().instances[i], *cases().values[i]);
    }
}

}  // namespace

TEST_CASE("there are 31 hand-made and 7 random cases")
{
    CHECK(cases().instances.size() == 38);
    CHECK(cases().values.size() == 38);
}

TEST_CASE("the expected plans are legal and cost what is expected")
{
    forEachCase([](const Instance& in, const json::Value& document) {
        const json::Value& expect = *document.find("expect");
        if (expect.find("plan") == nullptr) return;
        const auto plan = readPlacement(in, *expect.find("plan"), in.name);
        REQUIRE_MESSAGE(plan, (plan ? "" : base::describe(plan.error())));
        const auto cost = evaluate(in, *plan);
        REQUIRE_MESSAGE(cost, (cost ? "" : base::describe(cost.error())));
        CHECK(cost->total() == doctest::Approx(number(*expect.find("cost"))));
        CHECK(plan->hostPeak == doctest::Approx(number(*expect.find("host_peak"))));
        CHECK(test::flaw(in, *plan) == "");
        CHECK(test::costOf(in, *plan) == doctest::Approx(cost->total()));
        const std::map<std::string, double> parts{{"write", cost->write},
                                                  {"read", cost->read},
                                                  {"compute", cost->compute},
                                                  {"struct", cost->structure + cost->stage}};
        for (const auto& [name, value] : *expect.find("parts")->asObject())
            CHECK(parts.at(name) == doctest::Approx(number(value)));
    });
}

TEST_CASE("every case is solved to its optimum, with its written set where that is unique")
{
    forEachCase([](const Instance& in, const json::Value& document) {
        const json::Value& expect = *document.find("expect");
        for (const bool reduced : {true, false}) {
            Options options;
            options.reduce = reduced;
            const auto answer = solve(in, options);
            REQUIRE_MESSAGE(answer, (answer ? "" : base::describe(answer.error())));
            CHECK(answer->status == (solver::available() ? Status::Optimal : answer->status));
            CHECK(test::flaw(in, answer->placement) == "");
            CHECK(test::costOf(in, answer->placement) == doctest::Approx(answer->placement.cost.total()));
            if (!solver::available()) continue;
            CHECK(answer->placement.cost.total() == doctest::Approx(number(*expect.find("cost"))));
            CHECK(answer->gap == 0);
            const json::Value* const unique = expect.find("written_set_unique");
            if (unique != nullptr && *unique->asBool())
                CHECK(names(in, writtenSet(answer->placement)) == strings(*expect.find("written")));
        }
    });
}

TEST_CASE("the baselines cost what is expected")
{
    forEachCase([](const Instance& in, const json::Value& document) {
        const std::pair<base::Strategy, const char*> all[] = {{base::Strategy::Depth, "depth_cut"},
                                                              {base::Strategy::SourceRule, "seed_t"}};
        for (const auto& [rule, name] : all) {
            INFO(base::nameOf(rule));
            const json::Value& value = *document.find("baselines")->find(name);
            const auto plan = baseline(in, rule);
            CHECK(plan.has_value() == !value.isNull());
            if (!plan || value.isNull()) continue;
            CHECK(plan->cost.total() == doctest::Approx(number(value)));
            Instance free = in;
            free.pins.clear();
            free.hostBudget.reset();
            free.stages = std::max(free.stages, plan->stages.back().stage);
            CHECK(test::flaw(free, *plan) == "");
        }
    });
}

TEST_CASE("the literal colouring costs what is expected, with the expected black values and edges")
{
    forEachCase([](const Instance& in, const json::Value& document) {
        const json::Value* const expect = document.find("literal_colouring");
        if (expect == nullptr) return;
        const MinCutRelaxation colouring = minCutRelaxation(in);
        CHECK(colouring.cost == doctest::Approx(number(*expect->find("cost"))));
        double sum = 0;
        for (const NodeId v : colouring.storedNodes) sum += in.node(v).write;
        CHECK(sum <= colouring.cost + 1e-9);
        CHECK(names(in, colouring.storedNodes) == strings(*expect->find("black_nodes")));
        std::set<std::pair<std::string, std::string>> edges, expected;
        for (const Edge& e : colouring.readEdges) edges.emplace(in.node(e.from).name, in.node(e.to).name);
        for (const json::Value& e : *expect->find("black_edges")->asArray())
            expected.emplace(*(*e.asArray())[0].asString(), *(*e.asArray())[1].asString());
        CHECK(edges == expected);
    });
}

TEST_CASE("the depths are as expected")
{
    forEachCase([](const Instance& in, const json::Value& document) {
        const json::Value* const expect = document.find("depth");
        if (expect == nullptr) return;
        const std::vector<int> depth = depths(in);
        for (std::size_t i = 0; i < in.nodes.size(); ++i)
            CHECK_MESSAGE(depth[i] == *expect->find(in.nodes[i].name)->asInt(), in.nodes[i].name);
    });
}

TEST_CASE("the solver-free bound is a bound")
{
    forEachCase([](const Instance& in, const json::Value& document) {
        CHECK(cutBound(in) <= number(*document.find("expect")->find("cost")) * (1 + 1e-9));
    });
}
