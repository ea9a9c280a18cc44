#pragma once

// Computes the cost of a placement, or the reason why it is not legal.

#include "base/result.h"
#include "optimiser/placement.h"

namespace hopscope::optimiser {

struct EvaluateOptions {
    bool pins = true;    // a placement that breaks a pin is not legal
    bool budget = true;  // nor is one that exceeds the host budget
};

// The placement's cost by parts. Fails with Unsupported, naming stage and value, if it is not legal: a value is
// computed without its operands, read before it is written or written without being computed on all rows, a hop runs
// never, twice or in stage 0, an output is missing, a pin is broken or the budget is exceeded. Linear in the placement
// and its operands.
base::Result<Cost> evaluate(const Instance& instance, const Placement& placement, const EvaluateOptions& options = {});

// The peak of host memory over the stages. A stage holds the values being written and those written earlier that this
// or a later stage reads; outputs stay. The placement has to be legal.
double hostPeak(const Instance& instance, const Placement& placement);

}  // namespace hopscope::optimiser
