#pragma once

// Computes the cost of a placement, or the reason why it is not legal.

#include "base/result.h"
#include "optimiser/placement.h"

namespace hopscope::optimiser {

struct EvaluateOptions {
    bool pins = true;    // a placement that breaks a pin is not legal
    bool budget = true;  // nor is one that exceeds the host budget
};

// Returns the parts of the placement's cost. Fails with Unsupported, naming stage and value, if the placement is not
// legal. In a legal placement, operands are available when a value is computed; values are written before they are
// read, and only if they are computed on all rows; each hop runs once, and not in stage 0; no output is missing; no pin
// is broken, and the budget is not exceeded. Linear in the placement and its operands.
base::Result<Cost> evaluate(const Instance& instance, const Placement& placement, const EvaluateOptions& options = {});

// Returns the peak of host memory over the stages. A stage holds the values that it writes, and earlier ones that it or
// a later stage reads; outputs remain. The placement has to be legal.
double hostPeak(const Instance& instance, const Placement& placement);

}  // namespace hopscope::optimiser
