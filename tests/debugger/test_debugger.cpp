// The staged run beside the unsplit model, with faults in what the run reads; and operators of two programs beside each other.
// The commands are tested with planted faults in tests/app/engine_debug.py.

#include <doctest/doctest.h>

#include <limits>

#include <ATen/ATen.h>

#include "debugger/debugger.h"
#include "debugger/difference.h"
#include "debugger/match.h"
#include "debugger/statistics.h"
#include "verify/models.h"

using namespace hopscope;
using testing::Case;
using testing::Folder;

namespace {

constexpr int features = 6;

debugger::Subject subjectOf(const Case& c) { return {&c.walk, &c.analysis, &c.inputs, "model"}; }

Case gcn(const Folder& folder)
{
    const std::string path = folder.path + "/model.pt";
    testing::writeModel(path, testing::gcnCode, features, 4);
    return Case(path, testing::makeGraph(60, features, testing::randomEdges(60, 240, 3), 1));
}

ir::Program program(const std::vector<std::string>& names)
{
    ir::Program made;
    for (const std::string& name : names) {
        ir::Op& op = made.ops.emplace_back();
        op.id = ir::OpId(made.ops.size() - 1);
        op.name = name;
    }
    return made;
}

}  // namespace

TEST_CASE("a staged run that computes the same has no divergence, and an error for each value on nodes")
{
    const Folder folder;
    const Case c = gcn(folder);
    for (const std::int64_t batch : {1, 7, 60}) {
        debugger::Settings settings;
        settings.folder = folder.path;
        settings.batch = batch;
        const auto found = debugger::compareStaged(subjectOf(c), c.plan, c.inputs, settings, {});
        REQUIRE_MESSAGE(found, found.error().message);
        CHECK(!found->divergence);
        CHECK(found->compared >= 3);
        CHECK(found->growth.size() == static_cast<std::size_t>(found->compared));
    }
}

TEST_CASE("the first operator that computes something else is named with its stage and its node")
{
    const Folder folder;
    const Case c = gcn(folder);
    constexpr std::int64_t node = 41;
    base::TensorMap staged = c.inputs;
    staged["x"] = testing::perturbed(staged["x"], node * features + 2, 1);
    for (const std::int64_t batch : {1, 7, 60}) {
        debugger::Settings settings;
        settings.folder = folder.path;
        settings.batch = batch;
        const auto found = debugger::compareStaged(subjectOf(c), c.plan, staged, settings, {});
        REQUIRE_MESSAGE(found, found.error().message);
        REQUIRE(found->divergence);
        CAPTURE(batch);
        CHECK(found->divergence->place.kind == "aten::matmul");
        CHECK(found->divergence->stage == plan::StageId(1));
        REQUIRE(!found->divergence->shown.empty());
        for (const schema::RowRecord& row : found->divergence->shown) CHECK(row.row == node);
        CHECK(found->growth.back().maxAbsolute > 0);
    }
}

TEST_CASE("operators correspond in order, and what was added or left out has no counterpart")
{
    const ir::Program first = program({"a", "b", "c", "d", "e"}), second = program({"a", "c", "x", "d", "b", "e"});
    std::string found;
    for (const auto& [a, b] : debugger::matchOperators(first, second)) {
        CHECK(first.op(a).name == second.op(b).name);
        found += first.op(a).name;
    }
    CHECK(found == "acde");
    CHECK(debugger::matchOperators(first, first).size() == 5);
    CHECK(debugger::matchOperators(first, program({})).empty());
}

TEST_CASE("what is not a number in both tensors is no difference, in one of them it is")
{
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    const auto differing = [](std::initializer_list<double> first, std::initializer_list<double> second) {
        const at::Tensor a = at::tensor(first), b = at::tensor(second);
        return debugger::differenceOf(a.view({-1, 1}), b.view({-1, 1}), 0, {}).rows;
    };
    CHECK(differing({1, nan, inf, -inf}, {1, nan, inf, -inf}) == 0);
    CHECK(differing({1, nan, 2, inf}, {1, 2, nan, -inf}) == 3);
}

TEST_CASE("a number on the edge between two parts of a histogram belongs to the upper one")
{
    at::manual_seed(4);
    for (int round = 0; round < 200; ++round) {
        CAPTURE(round);
        const at::Tensor ends = std::get<0>(at::randn({2}, at::kDouble).sort());
        const auto least = ends[0].item<double>(), most = ends[1].item<double>();
        std::vector<double> numbers{most};
        for (int bin = 0; bin < schema::histogramBins; ++bin)
            numbers.push_back(bin * ((most - least) / schema::histogramBins) + least);
        std::vector<std::int64_t> counts(schema::histogramBins, 1);
        ++counts.back();  // the greatest number belongs to the last part
        CHECK(debugger::statisticsOf(at::tensor(numbers, at::kDouble)).histogram == counts);
    }
}

namespace {

// Both layers read the logarithm of the features, one of which is negative.
Case logarithms(const Folder& folder)
{
    const std::string path = folder.path + "/model.pt";
    testing::writeModel(path, R"(
def forward(self, x, edge_index):
    y = torch.log(x)
    h = torch.relu(torch.index_add(y, 0, edge_index[1], y.index_select(0, edge_index[0])))
    return torch.index_add(y, 0, edge_index[1], h.index_select(0, edge_index[0]))
)",
                        features, 4);
    base::TensorMap graph = testing::makeGraph(60, features, testing::randomEdges(60, 240, 3), 1);
    graph["x"] = testing::perturbed(testing::perturbed(graph["x"], -1, 100), 17, -1000);
    return Case(path, graph);
}

std::ptrdiff_t stepsOf(const Case& c, const std::string& name)
{
    std::ptrdiff_t count = 0;
    for (const plan::Stage& stage : c.plan.stages)
        for (const plan::Step& step : stage.loops.front().steps)
            count += c.analysis.program.op(step.op).name == name ? 1 : 0;
    return count;
}

}  // namespace

TEST_CASE("numbers that two stages compute count once where they are not finite")
{
    const Folder folder;
    const Case c = logarithms(folder);
    REQUIRE(stepsOf(c, "aten::log") > 1);
    for (const std::int64_t batch : {7, 60}) {
        CAPTURE(batch);
        debugger::Settings settings;
        settings.folder = folder.path;
        settings.batch = batch;
        const auto found = debugger::huntNonFinite(subjectOf(c), c.plan, settings, {});
        REQUIRE_MESSAGE(found, found.error().message);
        REQUIRE(found->makers.size() == 1);
        CHECK(found->makers[0].place.kind == "aten::log");
        CHECK(found->makers[0].nan == 1);
    }
}
