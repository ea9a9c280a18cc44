#pragma once

// Private to analysis.

#include "ir/program.h"

namespace hopscope::analysis {

// Rewrites sums of segments that are differences of prefix sums, such as sums[offsets[1:]] - sums[offsets[:-1]] with
// sums = cat([0, cumsum(m)]), to segment_reduce, because prefix sums run over all rows in sequence. Applies to floats
// only. The operators of the prefix sums remain, and are dead unless they have another use. Returns descriptions of the
// differences (ir::describeOp). Only sound on functional programs. Linear in the operators.
std::vector<std::string> sumSegments(ir::Program& program);

}  // namespace hopscope::analysis
