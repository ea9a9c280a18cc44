#pragma once

// Composes again what ExportedProgram.run_decompositions() has taken apart. For the LibTorch modules only.

#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <vector>

namespace hopscope::loader::exported {

// Adds a call of an operator of core ATen in terms of the operators of models: aten::_softmax as aten::softmax,
// aten::view_copy as aten::view and aten::clone. Returns the results, with the same numbers; a null pointer stands for a
// statistic that only the backward pass needs. Returns nullopt for all other operators, without adding anything.
// `operands` are those of the operator's schema.
std::optional<std::vector<torch::jit::Value*>> composed(torch::jit::Graph& graph, const c10::FunctionSchema& schema,
                                                        const std::vector<torch::jit::Value*>& operands);

}  // namespace hopscope::loader::exported
