#pragma once

// Local re-optimisation while the user drags: only the stages around a pin are optimised, all others are fixed.

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

// A cheap plan that respects all pins of the instance and is close to `incumbent`, a plan of the same instance without
// the changes `changed` (pins added or removed), if there is one that differs only in a few stages around these. Pins
// that are far apart are handled one after the other. Stages of the instance that the incumbent does not use are
// inserted where the first of these pins are. Takes milliseconds for instances of any size, apart from a few linear
// passes. Returns nullopt without a solver, or with a host budget, which concerns all stages.
std::optional<Placement> reoptimiseLocally(const Instance& instance, const Placement& incumbent,
                                           const std::vector<Pin>& changed, const ReoptimiseOptions& options = {});

// Likewise, but the neighbourhood widens until there is a legal plan, in the end to the whole instance, or repairs the
// incumbent (repair.h), if that is cheaper or the instance is large. Status is Feasible (lowerBound 0 if nothing was
// proven), or Infeasible with proof; explainInfeasibility() gives the reason. Meant to be followed by solve() in the
// background. Fails as solve() does.
base::Result<Answer> reoptimise(const Instance& instance, const Placement& incumbent, const std::vector<Pin>& changed,
                                const ReoptimiseOptions& options = {});

// The same where reoptimiseLocally has found nothing.
base::Result<Answer> reoptimiseWhole(const Instance& instance, const Placement& incumbent,
                                     const std::vector<Pin>& changed, const ReoptimiseOptions& options = {});

}  // namespace hopscope::optimiser
