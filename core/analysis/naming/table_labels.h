#pragma once

// Provides readable names of tables: a derived table is named after the tables that it is derived from, not after the id
// of the value that selects its rows.

#include <string>

#include "analysis/analysis.h"

namespace hopscope::analysis {

// Returns the label of a table: "node", "part of edge_index", "edge_index + self-loops"; "none" for an invalid id. A
// reordered table has the label of the original.
std::string tableLabel(const Tables& tables, SpaceId id);

// Returns the label of the rows that a batch computes: "rows of node in the batch", "rows of edge_index into the
// batch", "rows of node in the frontier", "all rows".
std::string rowsLabel(const Tables& tables, const ir::RowClass& rows);

}  // namespace hopscope::analysis
