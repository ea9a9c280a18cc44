#pragma once

// Private to analysis: rewrites programs that reorder rows by their positions.

#include "ir/program.h"

namespace hopscope::analysis {

// Programs may split the rows of a value into several dimensions, permute these and merge them again, as in h.view(-1,
// 2, 8).flip(1).view(-1, 8). This pass makes them look up the same rows by number instead; the numbers result from the
// same operators on arange(h.size(0)). Row-wise operators in between are applied to the rows first. Nothing else
// changes, and operators that are no longer used remain. The pass matches the shapes of the sample. At run time, the
// last reshape of the numbers fails if a row was lost or added.
ir::Program mapRows(const ir::Program& program);

}  // namespace hopscope::analysis
