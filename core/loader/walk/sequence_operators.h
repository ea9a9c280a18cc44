#pragma once

// Evaluates operators on lists and tuples during the walk. The program contains the elements of lists and tuples, but
// not the containers themselves.

#include <optional>
#include <string>
#include <vector>

#include "loader/walk/operator_tools.h"

namespace hopscope::loader {

class SequenceOperators {
public:
    using Node = torch::jit::Node;

    explicit SequenceOperators(const OperatorTools& tools) : m_tools(tools) {}

    // Returns the results of prim::ListConstruct, ListUnpack, TupleConstruct, TupleUnpack, TupleIndex and TupleSlice;
    // nullopt for other nodes.
    std::optional<std::vector<Item>> evaluateInstruction(const Node& node, const std::vector<Item>& args);
    // Returns the results of an operator on a list or tuple; nullopt if the first argument is neither, or if the
    // operator is one on tensors. A change to a list is visible through all references to it.
    std::optional<std::vector<Item>> evaluate(const Node& node, const std::vector<Item>& args);

private:
    [[nodiscard]] std::vector<Item> unpack(const Node& node, const Item& whole) const;
    Item tupleIndex(const Item& tuple, const Item& index);
    [[nodiscard]] Item tupleSlice(const Node& node, const Item& tuple) const;
    std::optional<Item> read(const std::string& name, const std::vector<Item>& args);
    std::optional<Item> combine(const std::string& name, const std::vector<Item>& args);
    std::optional<Item> change(const std::string& name, const std::vector<Item>& args);
    std::optional<std::vector<Item>> computeByLibTorch(const Node& node, const std::vector<Item>& args);
    std::size_t position(const Item& index, std::size_t count);
    std::size_t clampedPosition(const Item& index, std::size_t count);
    Item slice(const std::vector<Item>& args);
    Item contains(const Item& list, const Item& wanted);
    Item compare(const Item& a, const Item& b, bool wanted);
    Item extreme(const Item& list, const char* scalarName);

    OperatorTools m_tools;
};

}  // namespace hopscope::loader
