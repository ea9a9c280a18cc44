#pragma once

// Private to analysis: tables of neighbours, integers [N, K] that name K rows of a node table for each row.

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// x[neighbours] as K look-ups, one for each column, stacked to [N, K, ...]; nullopt for any other operator. The table
// must follow from structure; operators that mask or clamp its padding run once for the whole graph. Negative numbers
// count from the end, as in PyTorch.
std::optional<base::Result<std::vector<ValueId>>> decomposeNeighbours(Emitter& emitter, const RuleContext& c);

}  // namespace hopscope::analysis
