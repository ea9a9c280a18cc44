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

// The best plan found that respects pins and budget, or nothing. Changes one decision after the other (which values are
// stored, in which stage hops run, whether what follows from inputs alone is stored in stage 0 or 1), each plan
// evaluated by demand, while that is cheaper. Deterministic but for the time limit.
std::optional<Placement> searchLocally(const Graph& g, const SearchLimits& limits);

}  // namespace hopscope::optimiser
