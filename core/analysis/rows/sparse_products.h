#pragma once

// Private to analysis: products of sparse matrices other than plain sums.

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// sparse.mm(a, x, "mean"), "amax" or "amin": the rows of x by the columns of the entries, times these, aggregated by
// their rows; rows without entries are 0. nullopt for any other operator.
std::optional<base::Result<std::vector<ValueId>>> decomposeSparseProducts(Emitter& emitter, const RuleContext& c);

}  // namespace hopscope::analysis
