#pragma once

// Builds arithmetic on sizes and other numbers, for which the file uses the names of Python's functions, and assertions
// about these numbers. For the LibTorch modules only.

#include <set>
#include <string>
#include <vector>

#include "loader/exported/values.h"

namespace hopscope::loader::exported {

class Symbols {
public:
    Symbols(const Place& place, torch::jit::Graph& graph) : m_place(place), m_graph(graph) {}

    // Computes a function such as "_operator.add" or "torch.sym_max". `kind` is that of the result: "as_sym_int",
    // "as_sym_float" or "as_sym_bool".
    torch::jit::Value* compute(const std::string& function, const std::vector<torch::jit::Value*>& operands,
                               const std::string& kind);
    // Returns the element of a tensor as a number of this kind.
    torch::jit::Value* item(torch::jit::Value* tensor, const std::string& kind);
    // Marks a number as a size, so that the assertion that it is not negative is omitted.
    torch::jit::Value* size(torch::jit::Value* number);
    // Makes forward raise an exception if the condition does not hold. Adds nothing if it always holds.
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
