#pragma once

// Derives the plans of the rules and the optimum step by step, and the optimum of the min-cut relaxation.

#include "pipeline/planning/planner.h"
#include "plan/walkthrough.h"

namespace hopscope::pipeline {

// Derives the plans for the request's objective, device and limits, ignoring its strategy, pins and number of stages.
// Takes as long as an optimisation. Fails with Cancelled, and as planFor() does; a strategy that has no plan is not an
// error.
base::Result<plan::Walkthroughs> walkthroughs(const Planning& planning);

}  // namespace hopscope::pipeline
