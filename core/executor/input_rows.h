#pragma once

// Maps rows of derived tables to rows of the input tables, which users know.

#include "executor/structure.h"
#include "executor/unsplit.h"

namespace hopscope::executor {

// The input row behind a row of any table: a row of a Filter, Perm or Cat table leads to the row that it was selected
// from, a self-loop added by a model to a row of its nodes. Constant time for each step of the derivation.
InputRow inputRow(Structure& structure, const analysis::Analysis& analysis, ir::SpaceId table, std::int64_t row);

}  // namespace hopscope::executor
