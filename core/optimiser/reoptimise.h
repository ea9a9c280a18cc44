#pragma once

// Re-optimises after pins have changed, as for the preview while the user drags a pin in the window: only the stages
// around the pins are optimised. The whole instance is optimised if this finds nothing.

#include <limits>
#include <memory>
#include <optional>
#include <stop_token>

#include "optimiser/solve.h"

namespace hopscope::optimiser {

struct ReoptimiseOptions {
    double deadlineSeconds = std::numeric_limits<double>::infinity();
    std::stop_token stop;
    std::shared_ptr<std::int64_t> iterations = nullptr;  // see solver::Limits
};

// Returns a cheap plan that respects all pins of the instance and differs from `incumbent` in a few stages only;
// nullopt if none is found. `incumbent` is a plan of the same instance before its pins changed, and `changed` are the
// pins that were added or removed. Pins that are far apart are handled one after the other. Stages that the incumbent
// does not use are inserted after the stages around one of the changed pins, unless a pin names a stage. Returns
// nullopt without a solver, or with a host budget, which concerns all stages.
std::optional<Placement> reoptimiseLocally(const Instance& instance, const Placement& incumbent,
                                           const std::vector<Pin>& changed, const ReoptimiseOptions& options = {});

// Does the same and, if this finds nothing, optimises the whole instance. Repairs the incumbent instead (repair.h) if
// that is cheaper or the instance is large. If neither finds a plan, or without a solver, returns the answer of
// solve(). Other answers are Feasible with a lowerBound of 0, or Infeasible with proof; explainInfeasibility() gives
// the reason. To be followed by solve() in the background. Fails as solve() does.
base::Result<Answer> reoptimise(const Instance& instance, const Placement& incumbent, const std::vector<Pin>& changed,
                                const ReoptimiseOptions& options = {});

// Does what reoptimise() does after reoptimiseLocally() has found nothing.
base::Result<Answer> reoptimiseWhole(const Instance& instance, const Placement& incumbent,
                                     const std::vector<Pin>& changed, const ReoptimiseOptions& options = {});

}  // namespace hopscope::optimiser
