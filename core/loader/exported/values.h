#pragma once

// The values of an exported program: those that nodes name, and the constants among their arguments. For the LibTorch
// modules only.

#include <torch/csrc/jit/ir/ir.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "loader/exported/members.h"

namespace hopscope::loader::exported {

// The node that is being read, which every refusal names.
struct Place {
    std::string file;
    std::string node;  // "add_3"; empty outside of nodes
    ir::Op op;         // its operator, modules and source line

    [[noreturn]] void refuse(const std::string& message, const std::string& hint,
                             base::ErrorCode code = base::ErrorCode::Unsupported) const;
    // Refuses a file that contradicts itself or PyTorch's operators.
    [[noreturn]] void damaged(const std::string& message) const;
};

class Values {
public:
    Values(const Place& place, torch::jit::Graph& graph) : m_place(place), m_graph(graph) {}

    using Names = std::unordered_map<std::string, torch::jit::Value*>;

    // A null pointer stands for a value that is not supported: a node that uses it is refused.
    void define(const std::string& name, torch::jit::Value* value);
    // Replaces all known names, because a graph within the program has names of its own. Returns the previous ones.
    Names exchange(Names names) { return std::exchange(m_values, std::move(names)); }
    [[nodiscard]] torch::jit::Value* named(const std::string& name) const;
    // Returns an argument of a node, converted to the type that the operator's schema expects. A number remains a
    // number even if the schema expects a tensor.
    torch::jit::Value* argument(const json::Reader& argument, const c10::Argument& expected);
    // Returns an argument without a schema, for results and arithmetic on sizes.
    torch::jit::Value* argument(const json::Reader& argument);
    torch::jit::Value* constant(const c10::IValue& value) { return m_graph.insertConstant(value); }

private:
    using Value = torch::jit::Value;
    Value* list(const Union& given, const c10::TypePtr& element);
    Value* element(const json::Reader& item);
    Value* plain(const Union& given);
    std::optional<c10::IValue> literal(const Union& given);
    c10::IValue fitting(c10::IValue value, const c10::Argument& expected) const;

    const Place& m_place;
    torch::jit::Graph& m_graph;
    Names m_values;
};

}  // namespace hopscope::loader::exported
