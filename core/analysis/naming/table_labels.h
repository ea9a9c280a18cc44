#pragma once

// Names of tables for people: derived tables by what they are made of, not by the ids of the values that select their rows.

#include <string>

#include "analysis/analysis.h"

namespace hopscope::analysis {

// "node", "part of edge_index", "edge_index + self-loops"; a table in another order is called as the table. "none" for none.
std::string tableLabel(const Tables& tables, SpaceId id);

// The rows that a batch computes: "rows of node in the batch", "rows of edge_index into the batch", "rows of node in the
// frontier", "all rows".
std::string rowsLabel(const Tables& tables, const ir::RowClass& rows);

}  // namespace hopscope::analysis
