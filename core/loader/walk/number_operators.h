#pragma once

// Evaluates TorchScript's operators on numbers: facts and sizes of tensors, conversions between tensors and numbers,
// and arithmetic.

#include <optional>
#include <vector>

#include "loader/walk/operator_tools.h"

namespace hopscope::loader {

class NumberOperators {
public:
    using Node = torch::jit::Node;

    explicit NumberOperators(const OperatorTools& tools) : m_tools(tools) {}

    // Returns the node's results; nullopt if it is an operator on tensors.
    std::optional<std::vector<Item>> evaluate(const Node& node, const std::vector<Item>& args);

private:
    std::optional<Item> tensorToNumber(const Node& node, const std::vector<Item>& args);
    std::optional<Item> numberToTensor(const Node& node, const std::vector<Item>& args);
    std::optional<std::vector<Item>> numberToNumber(const Node& node, const std::vector<Item>& args);
    Item dynamicArithmetic(const Node& node, const std::vector<Item>& args);
    std::optional<Item> convert(const Node& node, const std::vector<Item>& args);
    Item rangeLength(const std::vector<Item>& args);
    Item logarithm(const Item& number, const Item& base);
    Item deriveIndex(const std::vector<Item>& args);
    Item stacked(const std::vector<Item>& numbers, const at::Tensor& result);

    OperatorTools m_tools;
};

}  // namespace hopscope::loader
