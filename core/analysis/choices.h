#pragma once

// Private to analysis: operators that can turn a difference in the last digit into a large one.

#include "analysis/analysis.h"

namespace hopscope::analysis {

// Fills OpInfo::feedsChoice: true if a comparison, a rounding, a sign, a cast to whole numbers, a sorting by value or
// the like depends on the operator's results, directly or through other operators. Two values that are equal in the
// model, for example because each is tanh of the same number, have to remain equal however they are computed. Expects
// the operators in topological order. Linear in the operands.
void findChoices(Analysis& analysis);

}  // namespace hopscope::analysis
