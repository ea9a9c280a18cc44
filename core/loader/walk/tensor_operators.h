#pragma once

// Executes and records TorchScript's operators on tensors. Some are recorded as other operators.

#include <optional>
#include <string>
#include <vector>

#include "loader/walk/composite_operators.h"
#include "loader/walk/embedding_bags.h"

namespace hopscope::loader {

class TensorOperators {
public:
    using Node = torch::jit::Node;

    TensorOperators(Recorder& recorder, const Location& location, OperatorCalls& calls, SparseMatrices& sparse,
                    Numbers& numbers)
        : m_recorder(recorder),
          m_location(location),
          m_calls(calls),
          m_sparse(sparse),
          m_numbers(numbers),
          m_composites(recorder, location, calls, numbers),
          m_bags(recorder, calls, numbers)
    {}

    // Returns the node's results, one for each of its outputs.
    std::vector<Item> evaluate(const Node& node, const std::vector<Item>& args);

private:
    std::optional<Item> special(const Node& node, const std::vector<Item>& args);
    std::optional<Item> cast(const Node& node, const std::vector<Item>& args);
    std::optional<Item> joinedWeights(const std::string& name, const std::vector<Item>& args);
    std::optional<Item> sparse(const Node& node, const std::vector<Item>& args);
    Item compressed(const Item& crow, const Item& col, const Item& values, const Item& size);
    std::optional<Item> scatterSum(const Node& node, const std::vector<Item>& args);
    std::optional<Item> scatterIndex(const Item& index, const Item& src, std::int64_t dim);
    Item scatterSize(const Item& index, const Item& given);

    Recorder& m_recorder;
    const Location& m_location;
    OperatorCalls& m_calls;
    SparseMatrices& m_sparse;
    Numbers& m_numbers;
    CompositeOperators m_composites;
    EmbeddingBags m_bags;
};

}  // namespace hopscope::loader
