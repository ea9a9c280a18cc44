#pragma once

// Private to analysis.

#include "ir/program.h"

namespace hopscope::analysis {

// Separates the two dimensions of messages that are summed for each pair of a kind, such as a relation, and a node, in
// R * N rows:
//   zeros(R * N, F).index_add(0, kind * N + node, m).view(R, N, F)
//     ->  zeros(N, R, F).index_add(0, node, where(kind == arange(R), m, 0)).transpose(0, 1)
// and the same for node * R + kind, without transposing. Every message is added R times, as zero for other kinds, so
// kinds have to be few. Sums with a use other than view or reshape, possibly after element-wise operators, remain
// unchanged. Only sound on functional programs. Linear in the operators.
ir::Program separatePairedRows(const ir::Program& program);

}  // namespace hopscope::analysis
