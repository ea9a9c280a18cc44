#pragma once

// Private to analysis.

#include "ir/program.h"

namespace hopscope::analysis {

// Messages that are added up for each pair of a kind, such as a relation, and a node, in one dimension of R * N rows:
//   zeros(R * N, F).index_add(0, kind * N + node, m).view(R, N, F)
//     ->  zeros(N, R, F).index_add(0, node, where(kind == arange(R), m, 0)).transpose(0, 1)
// and the same for node * R + kind, without transposing. Kinds are few: every message is added R times, as zero for
// other kinds. Sums with a use other than view or reshape, possibly after element-wise operators, are unchanged.
// Only sound on functional programs. Linear in the operators.
ir::Program separatePairedRows(const ir::Program& program);

}  // namespace hopscope::analysis
