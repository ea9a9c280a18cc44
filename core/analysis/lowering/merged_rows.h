#pragma once

// Private to analysis.

#include "ir/program.h"

namespace hopscope::analysis {

// Keeps both dimensions where rows are merged with another dimension and separated again later:
//   f(x.view(N * K, F)).view(N, ..)              ->  f(x.view(N, K, F)).view(N, ..)
//   x.repeat_interleave(K)                       ->  x.unsqueeze(1).expand(-1, K)
//   x[rows], of merged numbers of rows           ->  x[rows of N, K]
// where f computes row by row. Several heads or quantiles in one dimension take these forms; other merged rows remain
// unchanged. The first dimension need not hold rows, since the results are the same. Only sound on functional programs.
// Linear in the operators if each value is separated once.
ir::Program separateMergedRows(const ir::Program& program);

}  // namespace hopscope::analysis
