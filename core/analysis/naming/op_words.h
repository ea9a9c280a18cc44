#pragma once

// What people call an operator: "relu", "sum aggregation", "matrix product". One vocabulary for the engine's texts and the
// window's labels.

#include <string>
#include <string_view>

namespace hopscope::analysis {

// `kind` as documents have it ("gather", "aggregate", "reduce", "rowwise", "structure"): the same operator does something
// else on rows of edges than on rows of nodes. `name` is the operator's, with or without namespace and overload
// ("aten::index_add_.out"). Operators that are not in the vocabulary keep their name, spelled with blanks.
std::string opWord(std::string_view kind, std::string_view name);

}  // namespace hopscope::analysis
