#pragma once

// Private to analysis.

#include "ir/program.h"

namespace hopscope::analysis {

// Rewrites medians and quantiles of groups, and groups as rows of a matrix, from PyG's form to aggregations that need
// the messages of one group only:
//   sort by value, sort stably by group, pick rows   ->  hopscope::select_rank(row - first row of the group, index, x)
//   zeros[rank in the group + group * width] = x     ->  hopscope::pad_groups(messages of each group, index, x, width)
//   rows[:-1] of an empty tensor with 0 in front and cumsum(n) after it  ->  cumsum(n) - n
// The first form is only rewritten if masked_fill replaces the results of empty groups, since a group without rows has
// no rank. Only sound on functional programs. Linear in the operators.
ir::Program rankGroups(const ir::Program& program);

}  // namespace hopscope::analysis
