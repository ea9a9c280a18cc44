#pragma once

// Provides readable names of operators: "relu", "sum aggregation", "matrix product". The engine's texts and the
// window's labels share this vocabulary.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/names.h"

namespace hopscope::analysis {

// The kind of a node in the graph of operators: an input or output of the model, an operator that depends on structure
// alone, or another operator, classified by its effect on rows.
enum class NodeKind : std::uint8_t { Input, Structure, Rowwise, Gather, Aggregate, Reduce, Output };

constexpr auto namesOf(NodeKind)
{
    return std::to_array<base::Named<NodeKind>>({{NodeKind::Input, "input"},
                                                 {NodeKind::Structure, "structure"},
                                                 {NodeKind::Rowwise, "rowwise"},
                                                 {NodeKind::Gather, "gather"},
                                                 {NodeKind::Aggregate, "aggregate"},
                                                 {NodeKind::Reduce, "reduce"},
                                                 {NodeKind::Output, "output"}});
}

// Removes the namespace, the overload and the underscore of in-place operators: "aten::index_add_.out" -> "index_add".
std::string_view plainName(std::string_view name);

// Returns the word for an operator, which can depend on its kind. `name` may include namespace and overload
// ("aten::index_add_.out"). Operators that are not in the vocabulary keep their name, with blanks for underscores.
std::string opWord(NodeKind kind, std::string_view name);

}  // namespace hopscope::analysis
