#pragma once

// Private to placement: explains to the user why an instance has no legal plan.

#include "optimiser/solve.h"
#include "placement/optimise.h"

namespace hopscope::placement {

// Returns the error for an instance that was proven infeasible. Looks for an irreducible infeasible subset of the pins
// and for fixes, each within the limits of `solving`.
base::Error noPlan(const analysis::Analysis& analysis, const ModelInstance& model, const OptimiseOptions& options,
                   const optimiser::Options& solving);

// Returns the error for pins that leave nothing to do in stage `empty`; plans have no empty stages.
base::Error emptyStage(const analysis::Analysis& analysis, const std::vector<plan::Pin>& pins, int empty);

// Returns the error for a pin that names a stage after `last`.
base::Error noSuchStage(const analysis::Analysis& analysis, const plan::Pin& pin, int last);

}  // namespace hopscope::placement
