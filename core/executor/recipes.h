#pragma once

// Distinguishes the structure-only values that each batch computes for its own rows.

#include "analysis/analysis.h"

namespace hopscope::executor {

// Returns whether a structure-only value is computed for the rows of the batch instead of being read from a whole
// table. This is so for row-wise results whose rows are all equal, and for reshapes and expansions of rows, which would
// be wide.
bool isRecipe(const analysis::Analysis& analysis, ir::ValueId value);

}  // namespace hopscope::executor
