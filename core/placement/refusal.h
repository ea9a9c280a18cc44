#pragma once

// Private to placement: why an instance has no legal plan, in the user's words.

#include "optimiser/solve.h"
#include "placement/optimise.h"

namespace hopscope::placement {

// For an instance that was proven infeasible. Looks for the smallest set of pins in conflict and for the ways out, each
// within the limits of `solving`.
base::Error noPlan(const analysis::Analysis& analysis, const ModelInstance& model, const OptimiseOptions& options,
                   const optimiser::Options& solving);

// The pin that wants a stage in which no gather can run because nothing happens in stage `empty`.
base::Error emptyStage(const analysis::Analysis& analysis, const plan::Pin& pin, int empty);

// A pin that names a stage beyond `last`.
base::Error noSuchStage(const analysis::Analysis& analysis, const plan::Pin& pin, int last);

}  // namespace hopscope::placement
