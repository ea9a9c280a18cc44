#pragma once

// Maps rows of derived tables to rows of the input tables, which users know.

#include "executor/structure.h"
#include "executor/unsplit.h"

namespace hopscope::executor {

// Returns the input row behind a row of any table. A row of a Filter, Perm or Cat table leads to the row from which it
// was taken; a self-loop that a model has added leads to a row of its nodes.
InputRow inputRow(Structure& structure, const analysis::Analysis& analysis, ir::SpaceId table, std::int64_t row);

}  // namespace hopscope::executor
