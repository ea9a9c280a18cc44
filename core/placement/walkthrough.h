#pragma once

// Derives a plan step by step.

#include <vector>

#include "placement/cost_model.h"
#include "placement/strategy.h"
#include "plan/walkthrough.h"

namespace hopscope::placement {

// Returns the steps that lead to `plan`, which its strategy made from `analysis`. First, every operator that is not
// computed in the prologue goes to the stage in which it starts (base::StrategyTraits), and a step follows for each cut
// that a rule pulls back. Operators that have to be computed in other stages follow, then the stored values in the order
// of stages. Results of the model are stored without a step. Replayed from an empty plan, the steps give the stages of
// every operator and all other stored values of the plan.
std::vector<plan::WalkStep> walkthrough(const analysis::Analysis& analysis, const plan::Plan& plan);

// Returns the optimum of the min-cut relaxation, with its cost in the unit of `costs`. Fails with Unsupported as
// makeInstance does.
base::Result<plan::Colouring> colouring(const analysis::Analysis& analysis, const CostModel& costs);

}  // namespace hopscope::placement
