#pragma once

// Private to analysis.

#include "ir/program.h"

namespace hopscope::analysis {

// Sums of segments as differences of prefix sums, sums[offsets[1:]] - sums[offsets[:-1]] with
// sums = cat([0, cumsum(m)]) and the like, become segment_reduce: the prefix sums would run over all rows in sequence.
// Applies to floats only. The operators of the prefix sums stay, and are dead unless they have another use. Only sound
// on functional programs. Linear in the operators. Returns the places of the differences (ir::describeOp).
std::vector<std::string> sumSegments(ir::Program& program);

}  // namespace hopscope::analysis
