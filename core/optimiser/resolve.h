#pragma once

// Solving again while the user drags: only the stages around a pin are looked at, everything else stays as it is.

#include <limits>
#include <stop_token>

#include "optimiser/solve.h"

namespace hopscope::optimiser {

struct ResolveOptions {
    double deadlineSeconds = std::numeric_limits<double>::infinity();
    std::stop_token stop;
};

// A cheap plan that keeps to all pins of the instance, near `incumbent`, a plan of the same instance but for the pins
// `changed` (new ones, and ones that were taken out): the stages around these are optimised, first with two recomputed
// values per use, the others are fixed; the neighbourhood widens until there is a legal plan, at last to the whole
// instance. Milliseconds at 1,000 values. Status is Feasible (lowerBound 0 where nothing was proven), or Infeasible with
// proof: explainConflict() says why. Meant to be followed by solve() in the background. Fails as solve() does.
base::Result<Answer> resolveAround(const Instance& instance, const Placement& incumbent,
                                   const std::vector<Pin>& changed, const ResolveOptions& options = {});

}  // namespace hopscope::optimiser
