#pragma once

// Private to analysis.

#include "ir/program.h"

namespace hopscope::analysis {

// Rewrites linear layers on more than two dimensions as they were before ExportedProgram.run_decompositions(), because
// a merged dimension is not one of rows:
//   view(addmm(bias, view(x, [-1, d]), permute(weight, [1, 0])), [.., k])  ->  linear(x, weight, bias)
//   view(mm(view(x, [-1, d]), weight), [.., k])                            ->  matmul(x, weight)
// The operators before the last view remain, and are dead unless they have another use. Only sound
// on functional programs. Linear in the operators.
void composeLinear(ir::Program& program);

}  // namespace hopscope::analysis
