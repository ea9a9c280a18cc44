#pragma once

// Private to analysis: rows reordered by their positions.

#include "ir/program.h"

namespace hopscope::analysis {

// Programs may split the rows of a value into several dimensions, permute these and merge them again, as in
// h.view(-1, 2, 8).flip(1).view(-1, 8). They are made to look up the same rows by number: the numbers are the result
// of the same operators on arange(h.size(0)). Row-wise operators in between are applied to the rows first. Nothing else
// changes, and operators that are no longer used stay. The match uses the shapes of the sample; that no row is lost or
// added is checked at run time by the last reshape of the numbers, which fails otherwise.
ir::Program mapRows(const ir::Program& program);

}  // namespace hopscope::analysis
