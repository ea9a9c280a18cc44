#pragma once

// Private to analysis: removes dimensions that are merged only to be separated again.

#include "ir/program.h"

namespace hopscope::analysis {

// Attention as PyTorch writes it merges the batch with the heads, which it moves to the front, and merges all positions
// into one dimension for a product with a weight. This pass rewrites the programs without such dimensions: views of
// views become views of the first operand, heads get a dimension of their own, and weights are multiplied with rows
// that are not merged. The numbers are the same on any graph.
ir::Program foldViews(const ir::Program& program);

}  // namespace hopscope::analysis
