#pragma once

// Inside a batch: the rows on which an operator needs its operands when its result is needed on given rows. Planner and
// executor share this one place, so that they cannot disagree.

#include <optional>
#include <vector>

#include "analysis/analysis.h"

namespace hopscope::analysis {

struct OperandRows {
    Slot slot;
    ValueId value;
    Use use = Use::Same;
    ir::RowClass rows;
    // A Frontier operand names the rows the frontier must hold: key `gatherKey` of the rows of `gatherSpace` owned by
    // `gatherOwner` (of the batch).
    SpaceId gatherSpace = {};
    KeyId gatherOwner = {}, gatherKey = {};
};

// The operands of `op` (Shape operands left out) with their rows, if its result is needed on `rows`; nullopt if it
// cannot exist on them.
std::optional<std::vector<OperandRows>> operandRows(const Analysis& analysis, OpId op, const ir::RowClass& rows);

// B(t) for a node table keyed by its own id, else O(space, key).
ir::RowClass owned(const Analysis& analysis, SpaceId space, KeyId key);

// The partition classes on which a value of `space` may be written: B, or one O per used key into a node table, the
// destination end preferred.
std::vector<ir::RowClass> partitions(const Analysis& analysis, SpaceId space);

// The destination type whose loop owns a Batch or Owned class; invalid if there is none.
SpaceId loopOf(const Analysis& analysis, const ir::RowClass& rows);

// The table whose rows the class holds (invalid for All).
SpaceId tableOf(const ir::RowClass& rows);

}  // namespace hopscope::analysis
