#pragma once

// TorchScript's operators on numbers: facts and sizes of tensors, conversions between tensors and numbers, arithmetic.

#include <optional>
#include <vector>

#include "loader/walk/numbers.h"
#include "loader/walk/value_wrapper.h"

namespace hopscope::loader {

class NumberOperators {
public:
    using Node = torch::jit::Node;

    NumberOperators(const Recorder& recorder, const Location& location, OperatorCalls& calls, ValueWrapper& wrapper,
                    Numbers& numbers)
        : m_recorder(recorder),
          m_location(location),
          m_calls(calls),
          m_wrapper(wrapper),
          m_numbers(numbers)
    {}

    // The node's results; nothing if it is an operator on tensors.
    std::optional<std::vector<Item>> evaluate(const Node& node, const std::vector<Item>& args);

private:
    std::optional<Item> tensorToNumber(const Node& node, const std::vector<Item>& args);
    std::optional<Item> numberToTensor(const Node& node, const std::vector<Item>& args);
    std::optional<std::vector<Item>> numberToNumber(const Node& node, const std::vector<Item>& args);
    Item dynamicArithmetic(const Node& node, const std::vector<Item>& args);
    std::optional<Item> convert(const Node& node, const std::vector<Item>& args);
    Item rangeLength(const std::vector<Item>& args);
    Item deriveIndex(const std::vector<Item>& args);
    Item stacked(const std::vector<Item>& numbers, const at::Tensor& result);

    const Recorder& m_recorder;
    const Location& m_location;
    OperatorCalls& m_calls;
    ValueWrapper& m_wrapper;
    Numbers& m_numbers;
};

}  // namespace hopscope::loader
