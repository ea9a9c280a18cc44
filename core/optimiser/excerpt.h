#pragma once

// Private to the optimiser: the part of a problem that some stages of a placement solve, as a problem of its own.

#include <optional>

#include "optimiser/placement.h"

namespace hopscope::optimiser {

struct StageRange {
    int from = 1, to = 1;
    void include(int stage);
    bool operator==(const StageRange&) const = default;
};

struct Excerpt {
    Instance instance;             // its stage 1 is stage 1 + shift of the whole; stage 0 is the same or not allowed
    std::vector<NodeId> original;  // by node, ascending
    Placement incumbent;           // the placement's decisions in these stages, without its cost
    StageRange window;             // in stages of the whole
    int shift = 0;
};

// The stages `window` of `incumbent`, which is legal except for pins on these stages. Values that were stored before
// are inputs, values that are read later are outputs; hops stay among these stages. Values that are stored before and
// computed again here are not read. nullopt if the part cannot stand alone: a pin demands hops of other stages, or a
// value that may be computed once is computed elsewhere. Ignores host budgets. Linear in the nodes, with a small factor
// outside of the window.
std::optional<Excerpt> excerptOf(const Instance& instance, const Placement& incumbent, StageRange window);

// `incumbent` with `part`, a legal placement of the excerpt, in place of its stages. Drops earlier stores that nothing
// reads any longer, with the computations that only they needed; later stages recompute the values that pins forbid to
// store. Linear in the placement. Sets its peak, but not its cost: evaluate() computes that and checks that the whole
// is legal.
Placement withExcerpt(const Instance& instance, const Placement& incumbent, const Excerpt& excerpt,
                      const Placement& part);

}  // namespace hopscope::optimiser
