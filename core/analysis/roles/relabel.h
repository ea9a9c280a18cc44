#pragma once

// Private to analysis: inputs that hold row numbers, for the rows that a sample keeps.

#include "analysis/roles/row_copy.h"

namespace hopscope::analysis {

// Where the edges of each kept destination begin, given the destinations of all edges and the edges kept, both ascending.
base::TensorView offsetsOf(const base::TensorView& offsets, const Members& targets, const IntColumn& ends,
                           const Members& edges);

// The numbers of kept rows, as ranks among the kept targets, of which the data has `all`. In a table of neighbours those
// that are not kept become others, for what is computed from them does not matter; padding stays padding.
base::TensorView relabelKey(const base::TensorView& key, const Members& rows, const Members& targets, std::int64_t all);

}  // namespace hopscope::analysis
