#pragma once

// Private to analysis: rewrites inputs that hold row numbers for the rows that a sample keeps.

#include <string>

#include "analysis/roles/roles.h"
#include "analysis/roles/row_copy.h"

namespace hopscope::analysis {

// Returns the start of the edges of each kept destination, given the destinations of all edges and the kept edges, both
// in ascending order. The end of the last edges follows, unless `form` omits it.
base::TensorView offsetsOf(const base::TensorView& offsets, EdgeForm form, const Members& targets,
                           const IntColumn& ends, const Members& edges);

// Returns the node table that a vector, such as PyG's `ptr`, divides into consecutive groups of rows: its numbers
// ascend from 0 to the size of the table. Empty for other vectors. Linear.
std::string groupedTable(const base::TensorView& view, const InputSchema& schema);

// Returns the starts of these groups among the kept rows.
base::TensorView groupOffsets(const base::TensorView& offsets, const Members& rows);

// Returns the key of the kept rows, with ranks among the kept targets instead of row numbers; the data has `all`
// targets. In a table of neighbours, targets that are not kept are replaced by others, because the values computed from
// them do not matter. Padding remains padding.
base::TensorView relabelKey(const base::TensorView& key, const Members& rows, const Members& targets, std::int64_t all);

}  // namespace hopscope::analysis
