#pragma once

// Private to the optimiser: extracts the part of a problem that some stages of a placement solve, as a problem of its
// own.

#include <optional>

#include "optimiser/placement.h"

namespace hopscope::optimiser {

struct StageRange {
    int from = 1, to = 1;
    void include(int stage);
    bool operator==(const StageRange&) const = default;
};

struct Excerpt {
    Instance instance;  // stage 1 is stage 1 + shift of the whole problem; stage 0 is the same, or not allowed
    std::vector<NodeId> original;  // by node, ascending
    Placement incumbent;           // the placement's decisions in these stages, without its cost
    StageRange window;             // in stages of the whole problem
    int shift = 0;
};

// Returns the stages `window` of `incumbent`, which is legal except for pins on these stages. Values that earlier
// stages store become inputs, and values that later stages read become outputs; hops stay within these stages. Values
// that are stored earlier and computed again here are not read. nullopt if the part cannot stand alone, because a pin
// demands hops of other stages, or a value that may only be computed once is computed elsewhere. Ignores host budgets.
// Linear in the nodes, with a small factor outside the window.
std::optional<Excerpt> excerptOf(const Instance& instance, const Placement& incumbent, StageRange window);

// Replaces the stages of the excerpt in `incumbent` by `part`, a legal placement of the excerpt. Drops earlier stores
// that nothing reads any longer, with the computations that only they needed. Later stages recompute the values that
// pins forbid to store. Sets the peak, but not the cost: evaluate() computes it and checks that the whole is legal.
// Linear in the placement.
Placement withExcerpt(const Instance& instance, const Placement& incumbent, const Excerpt& excerpt,
                      const Placement& part);

}  // namespace hopscope::optimiser
