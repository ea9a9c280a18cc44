#pragma once

// Readable names of operators: "relu", "sum aggregation", "matrix product". One vocabulary for the engine's texts and
// the window's labels.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/names.h"

namespace hopscope::analysis {

// A node of the graph of operators: an end of the model, or an operator classified by its effect on rows.
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

// "aten::index_add_.out" -> "index_add": namespace, overload and the mark of in-place operators removed.
std::string_view plainName(std::string_view name);

// An operator can have different words on rows of edges and on rows of nodes. `name` is the operator's, with or without
// namespace and overload ("aten::index_add_.out"). Operators that are not in the vocabulary keep their name, spelled
// with blanks.
std::string opWord(NodeKind kind, std::string_view name);

}  // namespace hopscope::analysis
