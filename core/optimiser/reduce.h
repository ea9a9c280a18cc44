#pragma once

// Private to the optimiser: reduces an instance to a smaller one with the same optimum, in about linear time.

#include <vector>

#include "optimiser/instance.h"

namespace hopscope::optimiser {

struct Reduced {
    Instance instance;
    std::vector<int> image;  // node of the original -> node of the reduced instance, or -1: computed where it is needed
    std::vector<int> original;  // node of the reduced instance -> node of the original
};

// Finds values that need never be stored and fuses them into their consumers, until nothing changes:
//   P  Every use of v lies in a region without hops that v alone enters and u alone leaves, and u is not more expensive
//      to store and read: u is stored instead.
//   I  The same for values inside a region with one value that enters it and one that leaves it (not with a budget).
//   R  Computing v from its operands is never more expensive than reading it.
//   F  A value that is never stored and has one consumer becomes part of it; an op alone on a hop becomes part of the
//      hop.
// Values that pins, required reads or `keep` name (and those whose frontier rows are cheaper than their D rows) are
// neither removed nor used to decide on others.
Reduced reduce(const Instance& instance, const std::vector<NodeId>& keep = {});

// Returns the instance unchanged, as its own reduction.
Reduced unreduced(const Instance& instance);

}  // namespace hopscope::optimiser
