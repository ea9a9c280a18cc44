#pragma once

// Private to analysis: where a last digit may decide over more than a last digit.

#include "analysis/analysis.h"

namespace hopscope::analysis {

// Fills OpInfo::feedsChoice: whether a comparison, a rounding, a sign, a cast to whole numbers, a sorting by value or the like
// is made of the operator's results, directly or through other operators. Two values that are equal in the model, because
// each is tanh of the same number, have to be equal in every way of computing them. Needs the operators in an order in
// which values are made before they are used; linear in the operands.
void findChoices(Analysis& analysis);

}  // namespace hopscope::analysis
