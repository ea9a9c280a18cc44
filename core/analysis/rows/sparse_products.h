#pragma once

// Private to analysis: rewrites products of sparse matrices with reductions other than a sum.

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// Rewrites sparse.mm(a, x, "mean"), "amax" and "amin": gathers the rows of x by the columns of the entries, multiplies
// them by the entries, and aggregates the products by the rows of the entries. Rows without entries are 0. Returns
// nullopt for all other operators.
std::optional<base::Result<std::vector<ValueId>>> decomposeSparseProducts(Emitter& emitter, const RuleContext& c);

}  // namespace hopscope::analysis
