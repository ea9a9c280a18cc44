#pragma once

// Names that may run without a line in the table, because they have no tensor results to follow: TorchScript's own
// instructions, and operators on numbers, texts and containers.

#include <string_view>

namespace hopscope::operators {

// Instructions of the language, and questions about a tensor that have the same answer on every graph (its rank, its
// dtype): "prim::If", "aten::dim".
bool isInstruction(std::string_view name);
// Questions of that kind only.
bool isFact(std::string_view name);
// From a one-element tensor to a number: "aten::item".
bool isToNumber(std::string_view name);
// Operators on numbers, texts, lists and dictionaries that hold no tensor: "aten::floordiv". Many share a name with an
// operator on tensors.
bool isPlain(std::string_view name);

// Files, global state, memory owned by others, in-place changes of a shape: listed so that a refusal can name the
// reason.
bool hasSideEffects(std::string_view name);
// Derivatives by automatic differentiation, which need the graph of all operators before them: no batch has it.
bool takesGradients(std::string_view name);
// Operators that always draw random numbers, judged by their names.
bool isRandom(std::string_view name);

}  // namespace hopscope::operators
