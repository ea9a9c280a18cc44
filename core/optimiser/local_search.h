#pragma once

// Private to the optimiser: finds plans without a solver.

#include <limits>
#include <optional>
#include <stop_token>

#include "optimiser/graph.h"
#include "optimiser/placement.h"

namespace hopscope::optimiser {

struct SearchLimits {
    double seconds = std::numeric_limits<double>::infinity();
    std::stop_token stop;
    bool thorough = true;  // false: a single pass, for a first plan
};

// Returns the best plan found that respects pins and budget, or nullopt. Changes one decision at a time as long as the
// cost falls: which values are stored, in which stage hops run, and whether values that depend on inputs alone are
// stored in stage 0 or 1. Each plan is evaluated on demand. Deterministic apart from the time limit.
std::optional<Placement> searchLocally(const Graph& g, const SearchLimits& limits);

}  // namespace hopscope::optimiser
