#pragma once

// Computes depth (the rounds of message passing that a value depends on), depth_module and depth_op.

#include "analysis/analysis.h"

namespace hopscope::analysis {

// Fills depth, depthModule and depthOp of every operator and of the whole model. Needs finished row spaces.
void computeDepths(Analysis& analysis);

// Returns the operators that gather over a hop on the rows on which the model uses them, in program order. Depth counts
// the rounds of these operators.
std::vector<OpId> hopOperators(const Analysis& analysis);

// Returns, for each operator, the number of the message-passing module call that it belongs to, from 0; -1 if there is
// none. The call is that of the outermost module whose hops form exactly one round.
std::vector<int> messagePassingModules(const Analysis& analysis, const std::vector<OpId>& hops);

}  // namespace hopscope::analysis
