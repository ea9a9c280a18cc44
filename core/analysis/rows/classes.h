#pragma once

// Finds the rows on which an operator in a batch needs its operands, given the rows on which its result is needed, and
// the classes of rows on which loops may write a table. Planner and executor share these functions, so that they cannot
// disagree.

#include <optional>
#include <vector>

#include "analysis/analysis.h"

namespace hopscope::analysis {

struct OperandRows {
    Slot slot;
    ValueId value;
    Use use = Use::Same;
    ir::RowClass rows;
    // Frontier operands: the frontier must hold, for each row of `gatherSpace` that the batch owns by key
    // `gatherOwner`, the row that its key `gatherKey` names.
    SpaceId gatherSpace = {};
    KeyId gatherOwner = {}, gatherKey = {};
};

// Returns the operands of `op`, other than Shape operands, with the rows on which they are needed if the result is
// needed on `rows`; nullopt if the result cannot exist on `rows`.
std::optional<std::vector<OperandRows>> operandRows(const Analysis& analysis, OpId op, const ir::RowClass& rows);

// Returns B(t) for a node table keyed by its own id, and O(space, key) otherwise.
ir::RowClass owned(const Analysis& analysis, SpaceId space, KeyId key);

// Returns the partition classes on which a value of `space` may be written: B for a node table, else one O per key into
// a node table that inputs or operators use (Tables::usedKeys), except compositions. Selected and reordered rows also
// have the keys of their parent. If no key of edges or joined tables is used, these have all of theirs. End 1 of edges
// precedes end 0.
std::vector<ir::RowClass> partitions(const Analysis& analysis, SpaceId space);

// Returns the destination type of the loop that owns a Batch or Owned class; invalid if there is none.
SpaceId loopOf(const Analysis& analysis, const ir::RowClass& rows);

// Returns the table that the rows of a class belong to; invalid for All.
SpaceId tableOf(const ir::RowClass& rows);

}  // namespace hopscope::analysis
