#pragma once

// Private to analysis: the pass that gives every value its row spaces. It re-emits the functional program into a Builder,
// merging common subexpressions and rewriting composite operators that mix rows (softmax or normalisation over all rows)
// into row reductions and row-wise operators.

#include "analysis/roles/roles.h"
#include "analysis/rows/builder.h"

namespace hopscope::analysis {

// Fills builder.analysis from `functional`. After the first refusal, whose operator is analysis.refusedOp, the rest is
// added as unanalysedOp() describes it.
base::Status infer(Builder& builder, const ir::Program& functional, const InputSchema& schema);

// The description of an operator that was not analysed: row-wise, without depth; arithmetic on numbers is structure.
OpInfo unanalysedOp(const ir::Op& op);

}  // namespace hopscope::analysis
