#pragma once

// The derivation of a plan, step by step.

#include <vector>

#include "placement/cost_model.h"
#include "placement/strategy.h"
#include "plan/walkthrough.h"

namespace hopscope::placement {

// The steps that lead to `plan`, which its strategy made from `analysis`: every operator in the stage of its depth
// (with the source rule, that of its module, and a step for each cut that it pulls back), the operators that have to be
// computed in other stages, then the stored values in the order of stages. Results of the model are stored without a
// step. Replayed from an empty plan, the steps result in the stages of every operator and the stored values of the
// plan. Linear in plan and pulls.
std::vector<plan::WalkStep> walkthrough(const analysis::Analysis& analysis, const plan::Plan& plan);

// One minimum cut; its cost is in the unit of the costs. Fails with Unsupported as makeInstance does.
base::Result<plan::Colouring> colouring(const analysis::Analysis& analysis, const CostModel& costs);

}  // namespace hopscope::placement
