#pragma once

// Private to placement: finds work for a stage that a pin names and nothing else uses.

#include "optimiser/instance.h"

namespace hopscope::placement {

// Returns the cut before a gather that delays one of `hops` by a stage: the earlier stage then computes and stores the
// gathered operand, or the value that it is a view of. Of several such cuts, returns the one that is cheapest to store
// and read; nullopt if there is none. Linear in the instance for each gather.
std::optional<optimiser::Edge> delayingCut(const optimiser::Instance& instance,
                                           const std::vector<optimiser::NodeId>& hops);

}  // namespace hopscope::placement
