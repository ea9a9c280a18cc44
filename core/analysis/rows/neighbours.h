#pragma once

// Private to analysis: handles tables of neighbours, integers [N, K] that name K rows of a node table for each row.

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// Rewrites x[neighbours] to K look-ups, one for each column, stacked to [N, K, ...]; returns nullopt for all other
// operators. The table must depend on structure alone; operators that mask or clamp its padding run once for the whole
// graph. Negative numbers count from the end, as in PyTorch.
std::optional<base::Result<std::vector<ValueId>>> decomposeNeighbours(Emitter& emitter, const RuleContext& c);

}  // namespace hopscope::analysis
