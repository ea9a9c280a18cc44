#pragma once

// Depth (the rounds of message passing that a value depends on), depth_module and depth_op.

#include "analysis/analysis.h"

namespace hopscope::analysis {

// Fills depth, depthModule and depthOp of every operator and of the whole model. Needs finished row spaces.
void computeDepths(Analysis& analysis);

// The operators that gather over a hop on the rows where the model uses them, in order: depth counts their rounds.
std::vector<OpId> hopOperators(const Analysis& analysis);

// For each operator, the message-passing module call it belongs to: the outermost module whose hops form exactly one
// round. Operators of one call share a number from 0; -1: in none.
std::vector<int> messagePassingModules(const Analysis& analysis, const std::vector<OpId>& hops);

}  // namespace hopscope::analysis
