#pragma once

// Private to analysis: rows in another order, by where they lie.

#include "ir/program.h"

namespace hopscope::analysis {

// Programs that split the rows of a value into several dimensions, turn these and merge them again, as in
// h.view(-1, 2, 8).flip(1).view(-1, 8), look the same rows up by number instead: by those that come out where the same
// operators are applied to arange(h.size(0)). Row-wise operators in between are applied to the rows first. Nothing else
// changes; operators that nobody needs any more stay. Works on shapes of the sample: that as many rows come out as went in is
// said by the last reshape of their numbers, which fails where it is not so.
ir::Program mapRows(const ir::Program& program);

}  // namespace hopscope::analysis
