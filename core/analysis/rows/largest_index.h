#pragma once

// Private to analysis: handles index.max() + 1 as a number of rows, as in softmax(src, index) or
// add_self_loops(edge_index). It counts the first rows of the table that the index points into, and is computed on the
// data.

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// Returns the table that all numbers of a tensor point into; invalid if they are not row numbers of a single table.
SpaceId indexedTable(const RuleContext& c, ValueId x);

// For max() or bincount() of an index, if `Builder::prefixes` is set: makes the mask of the rows up to the largest
// number, and records the table of these rows in `Builder::counted`. Does nothing for other operators, or if no value
// has the rows of the table.
base::Status countLargestIndex(Emitter& emitter, const RuleContext& c);

// Rewrites bincount(index): the counts of these rows are taken from those of all rows.
std::optional<base::Result<std::vector<ValueId>>> decomposeBincount(Emitter& emitter, const RuleContext& c);

}  // namespace hopscope::analysis
