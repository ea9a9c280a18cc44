#pragma once

// Private to analysis.

#include "ir/program.h"

namespace hopscope::analysis {

// Sums of segments as differences of prefix sums, sums[offsets[1:]] - sums[offsets[:-1]] with sums = cat([0, cumsum(m)])
// and the like, become segment_reduce: the prefix sums would run over all rows in sequence. Only on floats; what they are
// made of stays, and is dead if nothing else needs it. Only sound on functional programs. Linear in the operators. Returns
// the places of the differences (ir::describeOp).
std::vector<std::string> sumSegments(ir::Program& program);

}  // namespace hopscope::analysis
