#pragma once

// Classifies names of operators beyond the table. Some may run without a line in it: TorchScript's own instructions,
// conversions to numbers, and operators on numbers, texts and containers. Others tell why an operator is refused.

#include <string_view>

namespace hopscope::operators {

// True for instructions of TorchScript ("prim::If"), for the sizes of a tensor ("aten::size"), and for facts that are
// the same on every graph, such as the rank of a tensor ("aten::dim").
bool isInstruction(std::string_view name);
// True for such facts only.
bool isFact(std::string_view name);
// True for operators that turn a one-element tensor into a number: "aten::item".
bool isToNumber(std::string_view name);
// True for operators that need no tensor, most of them on numbers, texts, lists and dictionaries: "aten::floordiv".
// Many share a name with an operator on tensors.
bool isPlain(std::string_view name);

// True for listed operators that are refused for side effects: most access files, global state or memory owned by
// others, or change a shape in place.
bool hasSideEffects(std::string_view name);
// True for automatic differentiation, which needs the graph of all operators before it; a batch does not have this
// graph.
bool takesGradients(std::string_view name);
// True for names that begin like those of operators that always draw random numbers.
bool isRandom(std::string_view name);

}  // namespace hopscope::operators
