#pragma once

// Readable names of tables: a derived table is named after its sources, not after the id of the value that selects
// its rows.

#include <string>

#include "analysis/analysis.h"

namespace hopscope::analysis {

// "node", "part of edge_index", "edge_index + self-loops"; a reordered table has the name of the original. "none" for
// none.
std::string tableLabel(const Tables& tables, SpaceId id);

// The rows that a batch computes: "rows of node in the batch", "rows of edge_index into the batch", "rows of node in the
// frontier", "all rows".
std::string rowsLabel(const Tables& tables, const ir::RowClass& rows);

}  // namespace hopscope::analysis
