#pragma once

// Private to analysis.

#include "ir/program.h"

namespace hopscope::analysis {

// Drops the operators (and operator values) that neither an output nor a guard needs, and renumbers densely in order.
// Only sound on functional programs.
ir::Program removeDead(const ir::Program& program);

// Turns max and min along a dimension into amax and amin if their row numbers are unused, because these can be merged
// over batches.
void dropUnusedPositions(ir::Program& program);

}  // namespace hopscope::analysis
