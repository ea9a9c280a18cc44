#pragma once

// Private to analysis: the pass that gives every value its row spaces. It re-emits the functional program into a
// Builder, merging common subexpressions and rewriting composite operators that mix rows (softmax or normalisation over
// all rows) into row reductions and row-wise operators.

#include "analysis/roles/roles.h"
#include "analysis/rows/builder.h"

namespace hopscope::analysis {

// Fills builder.analysis from `functional`. After the first refusal, at analysis.refusedOp, the remaining operators are
// added as unanalysedOp() describes them.
base::Status infer(Builder& builder, const ir::Program& functional, const InputSchema& schema);

// Describes an operator that was not analysed: it is row-wise and has no depth. Arithmetic on numbers is structure.
OpInfo unanalysedOp(const ir::Op& op);

}  // namespace hopscope::analysis
