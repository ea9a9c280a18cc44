#pragma once

// Arithmetic on sizes and other numbers, which the file writes with the names of Python's functions, and the assertions about
// them. For the LibTorch modules only.

#include <set>
#include <string>
#include <vector>

#include "loader/exported/values.h"

namespace hopscope::loader::exported {

class Symbols {
public:
    Symbols(const Place& place, torch::jit::Graph& graph) : m_place(place), m_graph(graph) {}

    // "_operator.add", "torch.sym_max"; `kind` is that of the result: "as_sym_int", "as_sym_float" or "as_sym_bool".
    torch::jit::Value* compute(const std::string& function, const std::vector<torch::jit::Value*>& operands,
                               const std::string& kind);
    // The element of a tensor as such a number.
    torch::jit::Value* item(torch::jit::Value* tensor, const std::string& kind);
    // Marks a number as a size, which omits the assertion that it is not negative.
    torch::jit::Value* size(torch::jit::Value* number);
    // Raises an exception in forward if the condition does not hold; writes nothing if it always does.
    void assertThat(torch::jit::Value* condition, const std::string& message);

private:
    using Value = torch::jit::Value;
    Value* insert(const char* name, const std::vector<Value*>& operands);
    Value* select(const std::vector<Value*>& operands);
    Value* cast(Value* number, const std::string& kind);
    [[nodiscard]] bool isCount(Value* number) const;  // never negative
    void learn(const std::string& function, const std::vector<Value*>& operands, Value* result);

    const Place& m_place;
    torch::jit::Graph& m_graph;
    std::set<const Value*> m_counts, m_true;
};

}  // namespace hopscope::loader::exported
