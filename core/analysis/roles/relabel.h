#pragma once

// Private to analysis: inputs that hold row numbers, for the rows that a sample keeps.

#include <string>

#include "analysis/roles/roles.h"
#include "analysis/roles/row_copy.h"

namespace hopscope::analysis {

// The starts of the edges of each kept destination, given the destinations of all edges and the edges kept, both
// ascending; followed by the end of the last ones, unless `form` leaves it out.
base::TensorView offsetsOf(const base::TensorView& offsets, EdgeForm form, const Members& targets,
                           const IntColumn& ends, const Members& edges);

// The node table that a vector divides into consecutive groups of rows, as PyG's `ptr` does: its numbers ascend from 0
// to that table's size. Empty for others. Linear.
std::string groupedTable(const base::TensorView& view, const InputSchema& schema);

// The starts of these groups among the rows that are kept.
base::TensorView groupOffsets(const base::TensorView& offsets, const Members& rows);

// The numbers of kept rows, as ranks among the kept targets, out of `all` targets in the data. In a table of
// neighbours, those that are not kept become others, because the values computed from them do not matter; padding stays
// padding.
base::TensorView relabelKey(const base::TensorView& key, const Members& rows, const Members& targets, std::int64_t all);

}  // namespace hopscope::analysis
