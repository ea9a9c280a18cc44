#pragma once

// Private to analysis: handles rows by their position. A part of a table, x[a:b], is a selection by a mask of its row
// numbers. A write to such a part chooses between old and new row by row, and the new rows must be computed from this
// part alone. One row, x[i], is a reduction over all of them.

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// Rewrites slice, narrow, split_with_sizes, select, slice_scatter and select_scatter along rows. Returns nullopt for
// other operators, for whole tables, and for parts that no mask describes, which the rules refuse.
std::optional<base::Result<std::vector<ValueId>>> decomposeRowRanges(Emitter& emitter, const RuleContext& context);

}  // namespace hopscope::analysis
