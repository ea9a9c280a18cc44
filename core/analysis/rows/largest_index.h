#pragma once

// Private to analysis: index.max() + 1 taken for a number of rows, as in softmax(src, index) or add_self_loops(edge_index). The
// rows that it counts are the first ones of the table that the index points into; how many they are is computed on the data.

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// The table that all numbers of a tensor point into; invalid where they are no row numbers of a single one.
SpaceId indexedTable(const RuleContext& c, ValueId x);

// For max() or bincount() of an index, where `Builder::prefixes` is set: makes the mask of the rows up to the largest one, and notes the
// table of these rows in `Builder::counted`. Nothing for other operators, and where no value has the rows of the table.
base::Status countLargestIndex(Emitter& emitter, const RuleContext& c);

// bincount(index): one for each of these rows, of those that all rows have.
std::optional<base::Result<std::vector<ValueId>>> decomposeBincount(Emitter& emitter, const RuleContext& c);

}  // namespace hopscope::analysis
