#pragma once

// Private to placement: why an instance has no legal plan, in the user's words.

#include "optimiser/solve.h"
#include "placement/optimise.h"

namespace hopscope::placement {

// For an instance that was proven infeasible. Looks for an irreducible infeasible subset of the pins and for fixes, each
// within the limits of `solving`.
base::Error noPlan(const analysis::Analysis& analysis, const ModelInstance& model, const OptimiseOptions& options,
                   const optimiser::Options& solving);

// Pins in conflict because they leave nothing to do in stage `empty`, and there are no such stages.
base::Error emptyStage(const analysis::Analysis& analysis, const std::vector<plan::Pin>& pins, int empty);

// A pin that names a stage beyond `last`.
base::Error noSuchStage(const analysis::Analysis& analysis, const plan::Pin& pin, int last);

}  // namespace hopscope::placement
