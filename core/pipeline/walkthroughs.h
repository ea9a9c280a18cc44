#pragma once

// The plans of the rules and the optimum, each step by step, and the colouring that
// gives a lower bound on the cost of their writes and reads.

#include "pipeline/planner.h"
#include "plan/walkthrough.h"

namespace hopscope::pipeline {

// Derives the plans for the request's objective, device and limits, ignoring its strategy and its pins. Takes an
// optimisation. Fails with Cancelled, and as planFor does, but for plans that a strategy does not have.
base::Result<plan::Walkthroughs> walkthroughs(const Planning& planning);

}  // namespace hopscope::pipeline
