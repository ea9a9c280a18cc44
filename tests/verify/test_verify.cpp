#include <doctest/doctest.h>

#include <limits>

#include "bench/sage.h"
#include "executor/executor.h"
#include "executor/memory.h"
#include "verify/models.h"
#include "verify/overflow.h"

using namespace hopscope;
using testing::Case;
using testing::Folder;

namespace {

constexpr std::int64_t mebi = std::int64_t(1) << 20;

struct Model {
    Folder folder;
    std::string path = folder.file("model.pt");
    explicit Model(const std::string& code, int rows = 1) { testing::writeModel(path, code, 6, 4, rows); }
};

schema::Verification verdictOf(const verify::Request& request)
{
    const auto verdict = verify::verify(request, {}, {});
    if (!verdict) FAIL(base::describe(verdict.error()));
    return *verdict;
}

base::TensorMap mediumGraph() { return testing::makeGraph(400, 6, testing::randomEdges(400, 700, 3), 4); }

// The request to verify what a run that makes no mistakes would give.
struct Right {
    Model model;
    Case c;
    Folder scratch;
    verify::Request request;
    explicit Right(const std::string& code = testing::gcnCode, base::TensorMap graph = mediumGraph(), int rows = 1)
        : model(code, rows),
          c(model.path, std::move(graph)),
          request(c.request(scratch))
    {}
};

}  // namespace

TEST_CASE("a right run is equal in full")
{
    const Model model(testing::gcnCode);
    const Case c(model.path, mediumGraph());
    const Folder scratch;
    const auto verdict = verdictOf(c.request(scratch));
    CHECK(verdict.verdict == schema::Verdict::Equal);
    CHECK(verdict.reason == "equal within the tolerance on all rows");
    CHECK(verdict.coverage.method == schema::CoverageMethod::Full);
    CHECK(verdict.coverage.rows == 400);
    CHECK(verdict.coverage.withInEdges > 200);
    CHECK(verdict.coverage.withInEdges < 396);
    CHECK(scratch.entries() == 0);
}

TEST_CASE("one wrong element in a thousand is found in full")
{
    Right right;
    right.request.outputs["out"] = testing::perturbed(right.request.outputs["out"], 777, 0.01F);
    const auto verdict = verdictOf(right.request);
    CHECK(verdict.verdict == schema::Verdict::Different);
    CHECK(verdict.outputs.at(0).different == 1);
    CHECK(verdict.outputs.at(0).maxAbsolute == doctest::Approx(0.01).epsilon(0.01));
    CHECK(verdict.reason.find("out: 1 element outside the tolerance") == 0);
}

TEST_CASE("samples agree with the whole, norms by both ends and isolated nodes included")
{
    Right right;
    right.request.sampledOnly = true;
    const auto verdict = verdictOf(right.request);
    CHECK(verdict.reason == "equal within the tolerance on 65 sampled destinations");
    CHECK(verdict.verdict == schema::Verdict::Equal);
    CHECK(verdict.coverage.method == schema::CoverageMethod::Sampled);
    CHECK(verdict.coverage.hops == right.c.analysis.depthOp);
    CHECK(verdict.coverage.chosen >= 64);
    CHECK(verdict.coverage.skipped == 0);
    CHECK(verdict.coverage.withInEdges >= 32);
    CHECK(verdict.coverage.withInEdges < verdict.coverage.chosen);
    CHECK(verdict.outputs.at(0).rows == verdict.coverage.chosen);
    CHECK(right.scratch.entries() == 0);
}

TEST_CASE("a wrong run is different on samples")
{
    Right right;
    right.request.sampledOnly = true;
    right.request.outputs["out"] = testing::perturbed(right.request.outputs["out"], -1, 0.003F);
    const auto verdict = verdictOf(right.request);
    CHECK(verdict.verdict == schema::Verdict::Different);
    CHECK(verdict.outputs.at(0).different > 0);
}

TEST_CASE("one node with one edge to itself is verified in full and on samples")
{
    Right right(testing::gcnCode, testing::makeGraph(1, 6, {{0, 0}}, 2));
    CHECK(verdictOf(right.request).verdict == schema::Verdict::Equal);
    right.request.sampledOnly = true;
    const auto verdict = verdictOf(right.request);
    CHECK(verdict.verdict == schema::Verdict::Equal);
    CHECK(verdict.coverage.withInEdges == 1);
    right.request.outputs["out"] = testing::perturbed(right.request.outputs["out"], 0, 0.01F);
    CHECK(verdictOf(right.request).verdict == schema::Verdict::Different);
}

TEST_CASE("edge outputs are sampled from both of their ends")
{
    Right right(testing::edgeCode);
    right.request.sampledOnly = true;
    const auto verdict = verdictOf(right.request);
    CHECK(verdict.reason.find("equal within the tolerance") == 0);
    CHECK(verdict.coverage.rows == 700);
}

TEST_CASE("outputs of several types of nodes are compared each at the nodes of its type")
{
    const Model model(R"(
def forward(self, xs: Dict[str, Tensor], es: Dict[str, Tensor]):
    user = xs["user"]
    item = xs["item"]
    edges = es["user__to__item"]
    back = es["item__to__user"]
    to_item = torch.index_add(item, 0, edges[1], user.index_select(0, edges[0]))
    to_user = torch.index_add(user, 0, back[1], item.index_select(0, back[0]))
    return {"user": torch.relu(to_user), "item": torch.tanh(to_item)}
)");
    constexpr std::int64_t users = 300, items = 150;
    std::vector<testing::Edge> there, back;
    for (std::int64_t e = 0; e < 600; ++e) {
        there.push_back({e * 7 % users, e * 11 % items});
        back.push_back({e * 13 % items, e * 17 % (users - 10)});
    }
    base::TensorMap user = testing::makeGraph(users, 6, there, 1), item = testing::makeGraph(items, 6, back, 2);
    const Case c(model.path, {{"xs.user", user.at("x")},
                              {"xs.item", item.at("x")},
                              {"es.user__to__item", user.at("edge_index")},
                              {"es.item__to__user", item.at("edge_index")}});
    const Folder scratch;
    auto request = c.request(scratch);
    request.sampledOnly = true;
    const auto verdict = verdictOf(request);
    CHECK(verdict.reason.find("equal within the tolerance") == 0);
    REQUIRE(verdict.outputs.size() == 2);
    for (const auto& output : verdict.outputs) CHECK(output.rows > 0);
    CHECK(verdict.outputs[0].rows + verdict.outputs[1].rows == verdict.coverage.chosen);
}

TEST_CASE("what depends on the whole graph is verified in full or not at all")
{
    const std::pair<const char*, const char*> models[] = {{testing::meanCentredCode, "aten::mean"},
                                                          {testing::idTableCode, "aten::embedding"}};
    for (const auto& [code, reason] : models) {
        Right right(code, mediumGraph(), 400);
        CAPTURE(reason);
        CHECK(verdictOf(right.request).verdict == schema::Verdict::Equal);
        right.request.sampledOnly = true;
        const auto verdict = verdictOf(right.request);
        CHECK(verdict.verdict == schema::Verdict::Unverifiable);
        CHECK(verdict.reason.find("sampling is not possible: ") != std::string::npos);
        CHECK(verdict.reason.find(reason) != std::string::npos);
    }
}

TEST_CASE("full verification that does not fit is a failure, sampled verification says what it skipped")
{
    Right right(testing::gcnCode, testing::makeGraph(20'000, 6, testing::randomEdges(20'000, 60'000, 3), 4));
    right.request.memoryLimit = 402 * mebi;
    right.request.mode = verify::Mode::Full;
    const auto full = verify::verify(right.request, {}, {});
    REQUIRE_FALSE(full);
    CHECK(full.error().code == base::ErrorCode::Resources);
    right.request.mode = verify::Mode::Sample;
    const auto verdict = verdictOf(right.request);
    CHECK(verdict.coverage.method == schema::CoverageMethod::Sampled);
    CHECK(verdict.verdict == schema::Verdict::Equal);
    CHECK(verdict.coverage.skipped < verdict.coverage.chosen);
    right.request.memoryLimit = mebi;
    const auto none = verdictOf(right.request);
    CHECK(none.verdict == schema::Verdict::Unverifiable);
    CHECK(none.coverage.skipped == none.coverage.chosen);
    CHECK(right.scratch.entries() == 0);
}

TEST_CASE("a forward that dies makes the verdict unverifiable with its reason")
{
    Right right;
    right.request.oracleProgram = {"/bin/sh", "-c", "kill -ABRT $$"};
    const auto verdict = verdictOf(right.request);
    CHECK(verdict.verdict == schema::Verdict::Unverifiable);
    CHECK(verdict.reason.find("signal 6") != std::string::npos);
}

TEST_CASE("a model that writes into its inputs is evaluated on copies")
{
    const Model model("def forward(self, x, edge_index):\n    x.mul_(2.0)\n    return torch.matmul(x, self.w)\n");
    base::TensorMap graph = testing::makeGraph(50, 6, {{0, 1}}, 4);
    base::TensorMap own{{"x", testing::perturbed(graph["x"], -1, 0)}, {"edge_index", graph["edge_index"]}};
    Case c(model.path, std::move(own));
    c.inputs = graph;
    const Folder scratch;
    CHECK(verdictOf(c.request(scratch)).verdict == schema::Verdict::Equal);
}

TEST_CASE("the plan is checked on the sample in three batch sizes")
{
    executor::installCpuAllocator();
    const Model model(testing::gcnCode);
    Case c(model.path, mediumGraph());
    const Folder scratch;
    const auto verdict = verify::verifySample(*c.model, c.walk, c.analysis, c.plan, c.sample, scratch.path, {},
                                              testing::oracleProgram());
    if (!verdict) FAIL(base::describe(verdict.error()));
    CHECK(verdict->reason == "equal within the tolerance on the sample, in batches of 1, 7 and all destinations");
    CHECK(verdict->verdict == schema::Verdict::Equal);
    CHECK(verdict->coverage.rows > 0);
    CHECK(verdict->coverage.chosen == verdict->coverage.rows);
    CHECK(scratch.entries() == 0);
}

TEST_CASE("a staged run of the executor is equal in full and on samples")
{
    executor::installCpuAllocator();
    const Folder folder;
    REQUIRE(bench::writeSageModel({6, 8, 3, 3, 5}, folder.file("sage.pt"), folder.file("weights.safetensors")));
    const Case c(folder.file("sage.pt"), mediumGraph());
    const Folder scratch, stores;
    executor::Options options;
    options.folder = stores.path;
    options.batch = 64;
    executor::Observer silent;
    const auto run = executor::run(c.walk, c.analysis, c.plan, c.inputs, options, silent, {});
    if (!run) FAIL(base::describe(run.error()));
    auto request = c.request(scratch);
    for (const auto& output : run->outputs) request.outputs[output.name] = output.tensor;
    CHECK(verdictOf(request).verdict == schema::Verdict::Equal);
    CHECK(verdictOf(request).checkpoints.empty());

    REQUIRE(run->checkpoints.size() >= 2);
    for (const auto& stored : run->checkpoints) request.checkpoints[stored.value] = stored.tensor;
    auto& spoilt = request.checkpoints.begin()->second;
    spoilt = testing::perturbed(spoilt, 11, 0.5F);
    const auto verdict = verdictOf(request);
    REQUIRE(verdict.checkpoints.size() == run->checkpoints.size());
    CHECK(verdict.verdict == schema::Verdict::Equal);
    for (const auto& error : verdict.checkpoints) {
        CAPTURE(error.name);
        const bool first = error.name == ir::valueName(request.checkpoints.begin()->first);
        CHECK(error.rows == 400);
        CHECK(error.different == (first ? 1 : 0));
    }
    CHECK(scratch.entries() == 0);
    request.sampledOnly = true;
    CHECK(verdictOf(request).verdict == schema::Verdict::Equal);
}

TEST_CASE("a run with products before sums is compared with the untouched model, in full and on samples")
{
    executor::installCpuAllocator();
    const Folder folder;
    REQUIRE(bench::writeSageModel({6, 8, 3, 3, 5}, folder.file("sage.pt"), folder.file("weights.safetensors")));
    const Case c(folder.file("sage.pt"), mediumGraph(), {.reassociate = true});
    REQUIRE(c.analysis.reassociations.size() == 1);
    const Folder scratch, stores;
    executor::Options options;
    options.folder = stores.path;
    options.batch = 64;
    executor::Observer silent;
    const auto run = executor::run(c.walk, c.analysis, c.plan, c.inputs, options, silent, {});
    if (!run) FAIL(base::describe(run.error()));
    auto request = c.request(scratch);
    for (const auto& output : run->outputs) request.outputs[output.name] = output.tensor;
    for (const auto& stored : run->checkpoints) request.checkpoints[stored.value] = stored.tensor;
    const base::TensorView made = request.outputs["out"];
    for (const bool sampled : {false, true}) {
        request.sampledOnly = sampled;
        request.outputs["out"] = made;
        const auto verdict = verdictOf(request);
        CHECK(verdict.verdict == schema::Verdict::Equal);
        CHECK(
            verdict.reason.starts_with("sums in a different order from the model's (--reassociate), and equal within"));
        CHECK(verdict.outputs.at(0).maxAbsolute > 0);
        CHECK(verdict.checkpoints.size() == (sampled ? 0 : run->checkpoints.size()));
        for (const auto& error : verdict.checkpoints) CHECK(error.different == 0);
        request.outputs["out"] = testing::perturbed(made, -1, 0.003F);
        CHECK(verdictOf(request).verdict == schema::Verdict::Different);
    }
    const auto sample = verify::verifySample(*c.model, c.walk, c.analysis, c.plan, c.sample, scratch.path, {},
                                             testing::oracleProgram());
    if (!sample) FAIL(base::describe(sample.error()));
    CHECK(sample->verdict == schema::Verdict::Equal);
}

TEST_CASE("where infinities differ, the first operator that makes them is named")
{
    const Model model("def forward(self, x, edge_index):\n"
                      "    h = x @ self.w\n"
                      "    y = h * 1e30 * 1e30\n"
                      "    return torch.zeros_like(y).index_add(0, edge_index[1], y[edge_index[0]])\n");
    const Case c(model.path, mediumGraph());
    const Folder scratch;
    schema::Verification verdict;
    verdict.outputs.push_back({.name = "out", .maxAbsolute = 3, .different = 1});
    CHECK_FALSE(verify::overflows(verdict));
    verdict.outputs[0].maxAbsolute = std::numeric_limits<double>::infinity();
    CHECK(verify::overflows(verdict));
    const std::string text = verify::firstOverflow(c.walk, c.analysis, c.sample, scratch.path, {});
    CHECK(text.find("aten::mul") == 0);
    CHECK(text.find("is the first whose result leaves the range of float32") != std::string::npos);
    const Model tame(testing::gcnCode);
    const Case other(tame.path, mediumGraph());
    CHECK(verify::firstOverflow(other.walk, other.analysis, other.sample, scratch.path, {}).empty());
}

namespace {

// Differs from `forward` by what rounding makes of an argument of some hundreds.
const char* const amplifyingCode = R"(
def forward(self, x, edge_index):
    h = torch.matmul(x, self.w)
    h = torch.index_add(h, 0, edge_index[1], h.index_select(0, edge_index[0]))
    return torch.sin(300.0 * h)
)";

// Cannot be computed in float64.
const char* const singleCode = R"(
def forward(self, x, edge_index):
    h = torch.matmul(x, self.w)
    assert h.element_size() == 4
    h = torch.index_add(h, 0, edge_index[1], h.index_select(0, edge_index[0]))
    return torch.sin(300.0 * h)
)";

// Means something else in float64.
const char* const widthCode = R"(
def forward(self, x, edge_index):
    h = torch.matmul(x, self.w)
    h = torch.index_add(h, 0, edge_index[1], h.index_select(0, edge_index[0]))
    return torch.tanh(h) + 0.1 * float(h.element_size())
)";

}  // namespace

TEST_CASE("a difference as large as what the model makes of rounding is unverifiable, a larger one is different")
{
    const Model model(amplifyingCode);
    const Case c(model.path, mediumGraph());
    for (const bool sampled : {false, true}) {
        CAPTURE(sampled);
        const Folder scratch;
        auto request = c.request(scratch);
        request.sampledOnly = sampled;
        request.outputs["out"] = testing::perturbed(request.outputs["out"], -1, 2e-4F);
        auto verdict = verdictOf(request);
        INFO(verdict.reason);
        CHECK(verdict.verdict == schema::Verdict::Unverifiable);
        CHECK(verdict.reason.find("out: the model amplifies rounding: its own result differs by up to ") == 0);
        CHECK(verdict.reason.find(" from its result in float64, and the split's by up to ") != std::string::npos);
        CHECK(verdict.outputs.at(0).different > 0);
        CHECK(scratch.entries() == 0);
        request.outputs["out"] = testing::perturbed(c.outputs.at("out"), -1, 0.02F);
        verdict = verdictOf(request);
        CHECK(verdict.verdict == schema::Verdict::Different);
        CHECK(verdict.reason.find("outside the tolerance") != std::string::npos);
    }
}

TEST_CASE(
    "where a model cannot be computed in float64, inputs that move in their last digit show what it makes of rounding")
{
    Right right(singleCode);
    right.request.outputs["out"] = testing::perturbed(right.c.outputs.at("out"), -1, 1e-4F);
    auto verdict = verdictOf(right.request);
    INFO(verdict.reason);
    CHECK(verdict.verdict == schema::Verdict::Unverifiable);
    CHECK(verdict.reason.find(" when only the last digit of its inputs changes") != std::string::npos);
    right.request.outputs["out"] = testing::perturbed(right.c.outputs.at("out"), 5, 0.02F);
    CHECK(verdictOf(right.request).verdict == schema::Verdict::Different);
}

TEST_CASE("what a model computes of the size of its numbers is no rounding")
{
    Right right(widthCode);
    right.request.outputs["out"] = testing::perturbed(right.c.outputs.at("out"), 5, 0.02F);
    CHECK(verdictOf(right.request).verdict == schema::Verdict::Different);
}
