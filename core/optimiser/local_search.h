#pragma once

// Private to the optimiser: plans without a solver.

#include <limits>
#include <optional>
#include <stop_token>

#include "optimiser/graph.h"
#include "optimiser/placement.h"

namespace hopscope::optimiser {

struct SearchLimits {
    double seconds = std::numeric_limits<double>::infinity();
    std::stop_token stop;
    bool thorough = true;  // off: one pass, for a first plan
};

// The best plan found that respects pins and budget, or nullopt. Changes one decision at a time (which values are
// stored, in which stage hops run, whether values that depend on inputs alone are stored in stage 0 or 1) and evaluates
// each plan by demand, as long as the cost falls. Deterministic apart from the time limit.
std::optional<Placement> searchLocally(const Graph& g, const SearchLimits& limits);

}  // namespace hopscope::optimiser
