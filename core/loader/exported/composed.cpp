#include "loader/exported/composed.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/named_value.h>

#include <unordered_map>

namespace hopscope::loader::exported {

namespace {

using c10::IValue;
using torch::jit::Graph;
using torch::jit::NamedValue;
using torch::jit::Value;
using Values = std::vector<Value*>;

Value* call(Graph& graph, const char* name, const std::vector<NamedValue>& operands,
            const std::vector<NamedValue>& named = {})
{
    return graph.insert(c10::Symbol::fromQualString(name), operands, named);
}

NamedValue none() { return {c10::IValue()}; }

Value* empty(Graph& graph) { return call(graph, "aten::zeros", {NamedValue(IValue(std::vector<std::int64_t>{0}))}); }

// (x, dim, half_to_float)
Values softmax(Graph& graph, const char* name, const Values& in)
{
    const bool toFloat = torch::jit::toIValue(in.at(2)).value_or(false).toBool();
    const auto dtype = static_cast<std::int64_t>(c10::ScalarType::Float);
    return {call(graph, name, {in.at(0), in.at(1), toFloat ? NamedValue(IValue(dtype)) : none()})};
}

// (x, weight, bias, mean, variance, momentum, eps): with the statistics of the training.
Values batchNorm(Graph& graph, const Values& in)
{
    return {call(graph, "aten::batch_norm",
                 {in.at(0), in.at(1), in.at(2), in.at(3), in.at(4), false, in.at(5), in.at(6), false}),
            empty(graph), empty(graph)};
}

// (x, weight, bias, N, C, HxW, groups, eps)
Values groupNorm(Graph& graph, const Values& in)
{
    return {call(graph, "aten::group_norm", {in.at(0), in.at(6), in.at(1), in.at(2), in.at(7), false}), nullptr,
            nullptr};
}

// (x, weight, bias, training, momentum, eps): with the statistics of the batch.
Values batchNormWithoutStatistics(Graph& graph, const Values& in)
{
    return {call(graph, "aten::batch_norm",
                 {in.at(0), in.at(1), in.at(2), none(), none(), in.at(3), in.at(4), in.at(5), false}),
            nullptr, nullptr};
}

// (query, key, value, dropout, causal, attn_mask, scale)
Values attention(Graph& graph, const Values& in)
{
    return {call(graph, "aten::scaled_dot_product_attention",
                 {in.at(0), in.at(1), in.at(2), in.at(5), in.at(3), in.at(4)}, {NamedValue("scale", in.at(6))}),
            nullptr};
}

// (weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx)
Values bag(Graph& graph, const Values& in)
{
    std::vector<NamedValue> operands(in.begin(), in.end());
    const auto padding = torch::jit::toIValue(in.at(8));
    if (padding && padding->toInt() < 0) operands.back() = none();
    Value* const results = call(graph, "aten::embedding_bag", operands);
    const auto unpacked = graph.insertNode(graph.createTupleUnpack(results))->outputs();
    return {unpacked.begin(), unpacked.end()};
}

Values convolution(Graph& graph, const Values& in)
{
    std::vector<NamedValue> operands(in.begin(), in.end());
    for (const bool flag : {false, false, false, false}) operands.emplace_back(flag);  // choices between algorithms
    return {call(graph, "aten::_convolution", operands)};
}

// copy(self, src): src in the shape and the dtype of self.
Values copied(Graph& graph, const Values& in)
{
    Value* const same = call(graph, "aten::type_as", {in.at(1), in.at(0)});
    return {call(graph, "aten::clone", {call(graph, "aten::expand_as", {same, in.at(0)})})};
}

Values filled(Graph& graph, const Values& in)
{
    return {call(graph, "aten::fill_", {call(graph, "aten::clone", {in.at(0)}), in.at(1)})};
}

// The same arguments under another name of the operator.
Value* renamed(Graph& graph, const c10::FunctionSchema& schema, const std::string& name, const Values& in)
{
    std::vector<NamedValue> operands;
    for (std::size_t i = 0; i < in.size(); ++i) operands.emplace_back(schema.arguments()[i].name(), in[i]);
    return call(graph, name.c_str(), {}, operands);
}

using Composer = Values (*)(Graph&, const Values&);

const std::unordered_map<std::string, Composer>& composers()
{
    static const std::unordered_map<std::string, Composer> all{
        {"aten::_softmax", [](Graph& g, const Values& in) { return softmax(g, "aten::softmax", in); }},
        {"aten::_log_softmax", [](Graph& g, const Values& in) { return softmax(g, "aten::log_softmax", in); }},
        {"aten::_native_batch_norm_legit_no_training", batchNorm},
        {"aten::_native_batch_norm_legit.no_stats", batchNormWithoutStatistics},
        {"aten::native_group_norm", groupNorm},
        {"aten::_scaled_dot_product_flash_attention_for_cpu", attention},
        {"aten::convolution", convolution},
        {"aten::_embedding_bag", bag},
        {"aten::_embedding_bag_forward_only", bag},
        {"aten::copy", copied},
        {"aten::fill.Scalar", filled},
        {"aten::fill.Tensor", filled},
        {"aten::lift_fresh_copy",
         [](Graph& g, const Values& in) -> Values { return {call(g, "aten::clone", {in.at(0)})}; }},
    };
    return all;
}

// aten::view_copy -> aten::view; empty if the arguments of the operator have another order in models.
std::string plainName(const std::string& name)
{
    static const std::unordered_map<std::string, std::string> all = [] {
        std::unordered_map<std::string, std::string> names{{"aten::_adaptive_avg_pool2d", "aten::adaptive_avg_pool2d"},
                                                           {"aten::_cdist_forward", "aten::cdist"}};
        for (const char* view : {"alias", "as_strided", "detach", "diagonal", "expand", "narrow", "permute", "select",
                                 "slice", "squeeze", "t", "transpose", "unfold", "unsqueeze", "view"})
            names.emplace(std::string("aten::") + view + "_copy", std::string("aten::") + view);
        return names;
    }();
    const auto found = all.find(name);
    return found == all.end() ? std::string() : found->second;
}

}  // namespace

std::optional<Values> composed(Graph& graph, const c10::FunctionSchema& schema, const Values& operands)
{
    if (schema.is_mutable()) return std::nullopt;
    if (const std::string plain = plainName(schema.name()); !plain.empty()) {
        Value* const result = renamed(graph, schema, plain, operands);
        return Values{schema.name().ends_with("_copy") ? call(graph, "aten::clone", {result}) : result};
    }
    const std::string overload = schema.overload_name();
    const auto found = composers().find(schema.name() + (overload.empty() ? "" : "." + overload));
    return found == composers().end() ? std::nullopt : std::optional(found->second(graph, operands));
}

}  // namespace hopscope::loader::exported
