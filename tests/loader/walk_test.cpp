#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "loader/models.h"
#include "support/interpreter.h"

using namespace hopscope;
using test::modelPath;

namespace {

loader::Model loaded(const std::string& path)
{
    auto model = loader::load(path);
    if (!model) FAIL(base::describe(model.error()));
    return *model;
}

base::TensorMap views(const std::map<std::string, at::Tensor>& tensors)
{
    base::TensorMap out;
    for (const auto& [name, tensor] : tensors) out[name] = loader::toView(tensor);
    return out;
}

// A graph with a self-loop, a duplicate edge and an isolated last node.
std::map<std::string, at::Tensor> graph(std::int64_t nodes, std::int64_t edges, std::int64_t width, std::uint64_t seed)
{
    at::manual_seed(seed);
    at::Tensor index = at::randint(0, nodes - 1, {2, edges}, at::TensorOptions(at::kLong));
    index.select(1, 0).fill_(1);
    index.select(1, 2).copy_(index.select(1, 1));
    return {{"x", at::randn({nodes, width})}, {"edge_index", index}};
}

std::map<std::string, at::Tensor> forward(const loader::Model& model, const base::TensorMap& inputs)
{
    const at::NoGradGuard noGrad;
    auto values = loader::assembleInputs(model, inputs);
    REQUIRE(values);
    for (c10::IValue& value : *values) value = value.deepcopy();
    torch::jit::Module copy = model.impl().module.deepcopy();
    std::map<std::string, at::Tensor> out;
    const auto named = loader::flattenOutputs(copy.forward(*values));
    REQUIRE(named);
    for (const auto& [name, tensor] : *named) out[name] = tensor;
    return out;
}

// Walks with one set of inputs and compares program and model on another.
ir::Program compare(const loader::Model& model, const base::TensorMap& sample, const base::TensorMap& other)
{
    const auto walk = loader::walk(model, sample);
    if (!walk) FAIL(base::describe(walk.error()));
    for (const base::TensorMap* inputs : {&sample, &other}) {
        const auto expected = forward(model, *inputs);
        test::Interpreter interpreter(walk->program, *walk->tensors);
        const auto got = interpreter.run(*inputs);
        CHECK(interpreter.brokenGuards() == 0);
        REQUIRE(got.size() == expected.size());
        for (const auto& [name, tensor] : expected) {
            INFO(name);
            REQUIRE(got.contains(name));
            REQUIRE(got.at(name).sizes() == tensor.sizes());
            CHECK(at::allclose(got.at(name), tensor, 1e-6, 1e-6));
        }
    }
    return walk->program;
}

ir::Program compareOnGraphs(const std::string& path, std::map<std::string, at::Tensor> more = {})
{
    INFO(path);
    auto a = graph(9, 25, 8, 3), b = graph(70, 400, 8, 4);
    a.insert(more.begin(), more.end());
    b.insert(more.begin(), more.end());
    return compare(loaded(path), views(a), views(b));
}

int count(const ir::Program& program, const std::string& name)
{
    return static_cast<int>(
        std::count_if(program.ops.begin(), program.ops.end(), [&](const ir::Op& op) { return op.name == name; }));
}

const ir::Op& first(const ir::Program& program, const std::string& name)
{
    for (const ir::Op& op : program.ops)
        if (op.name == name) return op;
    FAIL("no operator " << name);
    return program.ops.front();
}

// Where the generator of the models has this text.
int lineOf(const std::string& text)
{
    std::ifstream script(TEST_SCRIPT);
    int number = 1;
    for (std::string line; std::getline(script, line); ++number)
        if (line.find(text) != std::string::npos) return number;
    return 0;
}

void expectRefused(const std::string& name, const std::string& words, const std::string& where,
                   std::map<std::string, at::Tensor> more = {})
{
    auto inputs = graph(9, 25, 8, 3);
    inputs.insert(more.begin(), more.end());
    const auto walk = loader::walk(loaded(modelPath(name)), views(inputs));
    REQUIRE_FALSE(walk);
    INFO(base::describe(walk.error()));
    CHECK(walk.error().code == base::ErrorCode::Unsupported);
    CHECK(walk.error().message.find(words) != std::string::npos);
    CHECK(walk.error().where.find(where) != std::string::npos);
    CHECK(walk.error().message.find('\n') == std::string::npos);
}

}  // namespace

TEST_CASE("Traced and scripted convolutions become the same program")
{
    const ir::Program traced = compareOnGraphs(modelPath("net_t")), scripted = compareOnGraphs(modelPath("net_s"));
    CHECK(count(traced, "aten::scatter_add_") == 2);
    CHECK(count(scripted, "aten::scatter_add_") == 2);
    CHECK(count(scripted, "aten::linear") == 2);
    for (const ir::Program& program : {traced, scripted}) {
        const ir::Op& linear = first(program, "aten::linear");
        CHECK(ir::modulePath(linear.modules) == "convs.0.lin");
        CHECK(linear.modules.back().type == "Linear");
        CHECK(linear.source.kind == ir::SourceKind::Python);
        CHECK(program.value(*linear.args[1].value()).name == "convs.0.lin.weight");
        const ir::Op& scatter = first(program, "aten::scatter_add_");
        CHECK(scatter.mutatedArg == 0);
        CHECK(scatter.functionalName == "aten::scatter_add");
        CHECK(scatter.source.file.ends_with("make_models.py"));
        CHECK(scatter.source.line == lineOf("return src.new_zeros([count"));
    }
}

TEST_CASE("Ids are dense, producers and outputs agree, and unused values are gone")
{
    const ir::Program program = compareOnGraphs(modelPath("normalised_s"));
    for (std::size_t i = 0; i < program.values.size(); ++i) CHECK(program.values[i].id.at() == i);
    for (const ir::Op& op : program.ops) {
        CHECK(op.args.size() == op.argInfo.size());
        ir::forEachOperand(op, [&](ir::Slot, ir::ValueId v) { CHECK(v.valid()); });
        for (std::size_t k = 0; k < op.outputs.size(); ++k) {
            CHECK(program.value(op.outputs[k]).producer == op.id);
            CHECK(program.value(op.outputs[k]).output == static_cast<int>(k));
        }
    }
}

TEST_CASE("Normalisation with in-place writes and an optional weight matches forward")
{
    compareOnGraphs(modelPath("normalised_t"));
    const ir::Program program = compareOnGraphs(modelPath("normalised_s"));
    CHECK(first(program, "aten::pow_").functionalOverload == "Tensor_Scalar");
    const loader::Model model = loaded(modelPath("normalised_s"));
    auto a = graph(9, 25, 8, 3), b = graph(70, 400, 8, 4);
    a["edge_weight"] = at::rand({25});
    b["edge_weight"] = at::rand({400});
    compare(model, views(a), views(b));
}

TEST_CASE("Loops unroll, and a trip count that is an input becomes a guard")
{
    const ir::Program program = compareOnGraphs(modelPath("loop"), {{"rounds", at::scalar_tensor(2, at::kLong)}});
    CHECK(count(program, "aten::linear") == 3);
    REQUIRE(program.guards.size() == 1);
    CHECK(program.guards[0].taken == 2);
    std::set<int> calls;
    for (const ir::Op& op : program.ops)
        if (op.name == "aten::linear") calls.insert(op.modules[0].call);
    CHECK(calls.size() == 3);
}

TEST_CASE("A loop in steps runs as often as there are numbers before its end")
{
    for (const int end : {1, 2, 4, 5, 6, 7}) {
        CAPTURE(end);
        const ir::Program program =
            compareOnGraphs(modelPath("steps"), {{"rounds", at::scalar_tensor(end, at::kLong)}});
        REQUIRE(program.guards.size() == 1);
        CHECK(program.guards[0].taken == (end + 1) / 3);
    }
}

TEST_CASE("Dictionaries, lists and tuples dissolve on both ends")
{
    const auto inputs = [](std::int64_t n) {
        return views({{"xs.user", at::randn({n, 8})},
                      {"xs.item", at::randn({n + 2, 8})},
                      {"adjs.0", at::randn({n, 3})},
                      {"adjs.1", at::randn({4, n})},
                      {"pair.0", at::randn({n})},
                      {"pair.1", at::randn({n})}});
    };
    const ir::Program program = compare(loaded(modelPath("containers")), inputs(5), inputs(11));
    std::set<std::string> names;
    for (const ir::NamedValue& out : program.outputs) names.insert(out.name);
    CHECK(names == std::set<std::string>{"out.0.item", "out.0.user", "out.1.0", "out.1.1", "out.1.2", "out.2"});
}

TEST_CASE("Writes into buffers, views, constants and aliases match forward, and leave the model as it was")
{
    const loader::Model model = loaded(modelPath("writes"));
    compare(model, views({{"x", at::randn({4, 8})}}), views({{"x", at::randn({30, 8})}}));
    CHECK(model.impl().module.attr("state").toTensor().abs().sum().item<double>() == 0);
}

TEST_CASE("Sparse inputs come apart into indices and values")
{
    const loader::Model model = loaded(modelPath("sparse"));
    const auto coo = [](std::int64_t n, std::int64_t entries) {
        return views({{"x", at::randn({n, 8})},
                      {"adj.coo_indices", at::randint(0, n, {2, entries}, at::TensorOptions(at::kLong))},
                      {"adj.coo_values", at::rand({entries})},
                      {"adj.coo_size", at::full({2}, n, at::TensorOptions(at::kLong))}});
    };
    const ir::Program program = compare(model, coo(6, 9), coo(50, 300));
    CHECK(first(program, "aten::sparse_coo_tensor").overload == "indices_size");
    const auto csr = [](std::int64_t n) {
        return views({{"x", at::randn({n, 8})},
                      {"adj.csr_crow", at::arange(n + 1, at::TensorOptions(at::kLong)) * 2},
                      {"adj.csr_col", at::arange(2 * n, at::TensorOptions(at::kLong)).remainder(2)},
                      {"adj.csr_values", at::rand({2 * n})},
                      {"adj.csr_size", at::full({2}, n, at::TensorOptions(at::kLong))}});
    };
    compare(model, csr(5), csr(40));
}

TEST_CASE("Branches on sizes and values become guards")
{
    const ir::Program program = compareOnGraphs(modelPath("branch"));
    CHECK(program.guards.size() >= 3);
    for (const ir::Guard& guard : program.guards) CHECK(guard.source.line > 0);
    const loader::Model model = loaded(modelPath("branch"));
    const auto walk = loader::walk(model, views(graph(9, 25, 8, 3)));
    REQUIRE(walk);
    test::Interpreter interpreter(walk->program, *walk->tensors);
    auto other = graph(9, 25, 8, 3);
    other["x"] = at::full({9, 8}, 1e9);
    interpreter.run(views(other));
    CHECK(interpreter.brokenGuards() == 1);
}

TEST_CASE("Arithmetic on sizes stays symbolic")
{
    const auto inputs = [](std::int64_t n, double scale) {
        return views({{"x", at::randn({n, 8})},
                      {"scale", at::scalar_tensor(scale, at::kDouble)},
                      {"flag", at::scalar_tensor(true, at::kBool)}});
    };
    compare(loaded(modelPath("numbers")), inputs(5, 0.5), inputs(33, 1.5));
}

TEST_CASE("Modules that set attributes, share weights or call one layer twice match forward")
{
    for (const char* name : {"state", "shared"})
        compare(loaded(modelPath(name)), views({{"x", at::randn({4, 8})}}), views({{"x", at::randn({30, 8})}}));
    const auto walk = loader::walk(loaded(modelPath("shared")), views({{"x", at::randn({4, 8})}}));
    std::set<std::string> parameters;
    for (const ir::Value& value : walk->program.values)
        if (value.origin == ir::Origin::Parameter) parameters.insert(value.name);
    CHECK(parameters == std::set<std::string>{"a.bias", "a.weight", "b.bias"});
}

TEST_CASE("torch_scatter's operators run without the library") { compareOnGraphs(modelPath("scatter")); }

TEST_CASE("What cannot be run safely is refused with its place")
{
    expectRefused("rand", "random", "make_models.py");
    expectRefused("saves", "side effects", "make_models.py");
    expectRefused("training_t", "running statistics", "aten::batch_norm in norm");
    expectRefused("raises", "five features are needed", "make_models.py");
    expectRefused("stub", "torch-sparse", "torch_sparse::ptr2ind", {{"use", at::scalar_tensor(true, at::kBool)}});
}

TEST_CASE("A stub that never runs does not matter")
{
    const auto walk = loader::walk(loaded(modelPath("stub")),
                                   views({{"x", at::randn({4, 8})}, {"use", at::scalar_tensor(false, at::kBool)}}));
    REQUIRE(walk);
    CHECK(walk->program.guards.size() == 1);
}

TEST_CASE("Walking twice gives the same program")
{
    const loader::Model model = loaded(modelPath("normalised_s"));
    const auto a = loader::walk(model, views(graph(9, 25, 8, 3))), b = loader::walk(model, views(graph(19, 65, 8, 5)));
    REQUIRE(a);
    REQUIRE(b);
    REQUIRE(a->program.ops.size() == b->program.ops.size());
    for (std::size_t i = 0; i < a->program.ops.size(); ++i) CHECK((a->program.ops[i].args == b->program.ops[i].args));
}

TEST_CASE("PyG convolutions, traced and scripted, match forward on a larger graph")
{
    for (const std::string name : {"gcn", "sage", "gin", "gat", "transformer", "tag", "film", "arma"})
        for (const char* how : {"_t", "_s"})
            if (name + how != "gat_s") compareOnGraphs(modelPath("pyg_" + name + how));  // TorchScript refuses GATConv
}

TEST_CASE("Inputs can be guessed from names and weights")
{
    for (const char* name : {"net_t", "normalised_s", "loop", "writes"}) {
        const loader::Model model = loaded(modelPath(name));
        const auto sample = loader::proposeSample(model);
        if (!sample) FAIL(name << ": " << base::describe(sample.error()));
        CHECK(sample->at("x").shape[1] == 8);
        CHECK(loader::walk(model, *sample));
    }
    const auto none = loader::proposeSample(loaded(modelPath("containers")));
    REQUIRE_FALSE(none);
    CHECK(none.error().hint.find("--data") != std::string::npos);
}

#ifdef TEST_SHARED
TEST_CASE("The shared models match forward on graphs of their own width")
{
    for (const std::string& path : test::sharedModels()) {
        INFO(path);
        compare(loaded(path), views(graph(12, 40, 1433, 3)), views(graph(50, 300, 1433, 4)));
    }
}
#endif

TEST_CASE("Devices that a file names are the CPU in memory, and the program is as if none had been named")
{
    const std::map<std::string, std::map<std::string, int>> expected{
        {"devices_t", {{"cuda:0", 6}}}, {"devices_s", {{"cuda", 1}, {"cuda:0", 3}, {"cuda:1", 1}}}};
    for (const auto& [name, devices] : expected) {
        const std::string path = modelPath(name);
        CAPTURE(name);
        CHECK(loaded(path).info().devices == devices);
        compareOnGraphs(path);
    }
    CHECK(loaded(modelPath("net_t")).info().devices.empty());
}
