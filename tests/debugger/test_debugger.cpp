// The staged run beside the unsplit model, with faults in what the run reads; and operators of two programs beside each other.
// The commands are tested with planted faults in tests/app/engine_debug.py.

#include <doctest/doctest.h>

#include "debugger/debugger.h"
#include "debugger/match.h"
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
