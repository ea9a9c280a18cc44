#pragma once

// Defines the vocabulary of rows. A *row space* is a table (nodes of a type, edges of a relation, or a table derived
// from them); a *key* is a foreign-key column of a table; a *row class* is the set of rows on which one batch of a loop
// holds a value. The tables that issue the ids belong to the analysis.

#include "base/id.h"

namespace hopscope::ir {

using SpaceId = base::Id<struct SpaceTag>;
using KeyId = base::Id<struct KeyTag>;

enum class RowKind : std::uint8_t {
    Batch,     // B(t): the destination rows of the batch; a partition
    Owned,     // O(S,k): rows of table S whose foreign key k refers to the batch; a partition
    Frontier,  // F(t): the rows of node type t that the batch gathers from, own rows first; not a partition
    All,       // finished reductions and values without rows
};

struct RowClass {
    RowKind kind = RowKind::All;
    SpaceId table;  // Batch, Frontier: a node space; Owned: S; All: none
    KeyId key;      // Owned only

    auto operator<=>(const RowClass&) const = default;
};

}  // namespace hopscope::ir

template <>
struct std::hash<hopscope::ir::RowClass> {
    std::size_t operator()(const hopscope::ir::RowClass& c) const noexcept
    {
        return (static_cast<std::size_t>(c.kind) * 1000003u + static_cast<std::size_t>(c.table.index)) * 1000003u +
               static_cast<std::size_t>(c.key.index);
    }
};
