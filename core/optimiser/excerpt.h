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
    Placement incumbent;           // what the placement does in these stages, without its cost
    StageRange window;             // in stages of the whole
    int shift = 0;
};

// The stages `window` of `incumbent`, a legal placement but for pins on what these stages do. Values that were stored before
// are inputs, values that are read later are outputs; hops stay among these stages. Of values that are stored before and
// computed again here, none is read. None where the part cannot stand alone: pins that ask for hops of other stages, values
// that may be computed once and are computed elsewhere. Host budgets are left out. Linear in the nodes, with a small factor
// but for those of the window.
std::optional<Excerpt> excerptOf(const Instance& instance, const Placement& incumbent, StageRange window);

// `incumbent` with `part`, a legal placement of the excerpt, in place of its stages. Earlier stores that nothing reads any
// longer go, and what was computed for them only; what pins forbid to store is computed again by later stages that read it.
// Linear in the placement. Its peak is set, its cost is not: evaluate()
// tells it, and that the whole is legal.
Placement withExcerpt(const Instance& instance, const Placement& incumbent, const Excerpt& excerpt,
                      const Placement& part);

}  // namespace hopscope::optimiser
