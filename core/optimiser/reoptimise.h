#pragma once

// Local re-optimisation while the user drags: only the stages around a pin are optimised, everything else is fixed.

#include <limits>
#include <stop_token>

#include "optimiser/solve.h"

namespace hopscope::optimiser {

struct ReoptimiseOptions {
    double deadlineSeconds = std::numeric_limits<double>::infinity();
    std::stop_token stop;
};

// A cheap plan that respects all pins of the instance, close to `incumbent`, a plan of the same instance but for the pins
// `changed` (added or removed): the stages around these are optimised, first with two recomputed
// values per use, the others are fixed; the neighbourhood widens until there is a legal plan, at last to the whole
// instance. Milliseconds at 1,000 values. Status is Feasible (lowerBound 0 where nothing was proven), or Infeasible with
// proof: explainInfeasibility() says why. Meant to be followed by solve() in the background. Fails as solve() does.
base::Result<Answer> reoptimise(const Instance& instance, const Placement& incumbent, const std::vector<Pin>& changed,
                                const ReoptimiseOptions& options = {});

}  // namespace hopscope::optimiser
