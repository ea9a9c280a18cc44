#include "loader/exported/composed.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <doctest/doctest.h>
#include <torch/csrc/jit/api/function_impl.h>

using namespace hopscope;
using loader::exported::composed;

namespace {

at::Tensor numbers(std::vector<std::int64_t> shape) { return at::randn(shape); }
at::Tensor positive(std::int64_t size) { return at::rand({size}) + 0.5; }

const c10::IValue none;

struct Call {
    std::string name, overload;
    std::vector<c10::IValue> operands;
};

std::vector<Call> calls()
{
    const std::vector<std::int64_t> one{1}, zero{0};
    return {
        {"_softmax", "", {numbers({5, 3}), -1, false}},
        {"_log_softmax", "", {numbers({5, 3}), 1, false}},
        {"_native_batch_norm_legit_no_training",
         "",
         {numbers({6, 4}), positive(4), numbers({4}), numbers({4}), positive(4), 0.1, 1e-5}},
        {"_native_batch_norm_legit", "no_stats", {numbers({6, 4}), positive(4), none, true, 0.1, 1e-5}},
        {"native_group_norm", "", {numbers({6, 4}), positive(4), numbers({4}), 6, 4, 1, 2, 1e-3}},
        {"_scaled_dot_product_flash_attention_for_cpu",
         "",
         {numbers({1, 2, 5, 8}), numbers({1, 2, 6, 8}), numbers({1, 2, 6, 8}), 0.0, false, numbers({5, 6}), 0.25}},
        {"convolution", "", {numbers({2, 3, 7}), numbers({4, 3, 2}), numbers({4}), one, zero, one, false, zero, 1}},
        {"_adaptive_avg_pool2d", "", {numbers({2, 3, 6, 4}), std::vector<std::int64_t>{2, 2}}},
        {"_cdist_forward", "", {numbers({5, 3}), numbers({4, 3}), 1.0, none}},
        {"_embedding_bag",
         "",
         {numbers({5, 3}), at::tensor({0, 4, 2, 2}), at::tensor({0, 1}), false, 1, false, none, false, -1}},
        {"_embedding_bag_forward_only",
         "",
         {numbers({5, 3}), at::tensor({0, 4, 2, 2}), at::tensor({0, 1}), false, 0, false, none, false, 2}},
        {"copy", "", {numbers({5, 3}), numbers({3}).to(at::kDouble), false}},
        {"fill", "Scalar", {numbers({5, 3}), 2.5}},
        {"fill", "Tensor", {numbers({5, 3}), at::scalar_tensor(2.5)}},
        {"lift_fresh_copy", "", {numbers({5, 3})}},
        {"view_copy", "", {numbers({6, 2}), std::vector<std::int64_t>{3, 4}}},
        {"t_copy", "", {numbers({6, 2})}},
        {"select_copy", "int", {numbers({6, 2}), 1, 0}},
        {"slice_copy", "Tensor", {numbers({6, 2}), 0, 1, 5, 2}},
        {"expand_copy", "", {numbers({1, 2}), std::vector<std::int64_t>{3, 2}, false}},
    };
}

// The results of a graph that consists of the composed call; tensors are its inputs.
std::vector<c10::IValue> run(const Call& call, const c10::FunctionSchema& schema)
{
    const auto graph = std::make_shared<torch::jit::Graph>();
    std::vector<torch::jit::Value*> operands;
    torch::jit::Stack inputs;
    for (const c10::IValue& operand : call.operands) {
        operands.push_back(operand.isTensor() ? graph->addInput() : graph->insertConstant(operand));
        if (operand.isTensor()) inputs.push_back(operand);
    }
    const auto results = composed(*graph, schema, operands);
    REQUIRE(results);
    REQUIRE(results->size() == schema.returns().size());
    graph->registerOutput(results->front());
    torch::jit::GraphFunction function("composed", graph, {});
    function.run(inputs);
    return inputs;
}

}  // namespace

TEST_CASE("Composed operators compute what LibTorch's decomposed ones do, in memory of their own")
{
    const c10::InferenceMode guard;
    at::manual_seed(7);
    for (const Call& call : calls()) {
        INFO(call.name);
        const auto op =
            c10::Dispatcher::singleton().findSchemaOrThrow(("aten::" + call.name).c_str(), call.overload.c_str());
        torch::jit::Stack expected = call.operands;
        op.callBoxed(&expected);
        const std::vector<c10::IValue> found = run(call, op.schema());
        CHECK(found.front().toTensor().equal(expected.front().toTensor()));
        CHECK_FALSE(found.front().toTensor().is_alias_of(call.operands.front().toTensor()));
    }
}

TEST_CASE("Other operators, and those that write into an operand, stay as they are")
{
    torch::jit::Graph graph;
    torch::jit::Value* const x = graph.addInput();
    for (const auto& [name, overload] :
         {std::pair("aten::relu", ""), {"aten::fill_", "Scalar"}, {"aten::fill", "Tensor_out"}}) {
        const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
        CHECK_FALSE(composed(graph, op.schema(), {x, x, x}));
    }
    CHECK(graph.nodes().begin() == graph.nodes().end());
}
