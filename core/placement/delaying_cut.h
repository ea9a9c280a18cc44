#pragma once

// Private to placement: fills a stage that a pin names and nothing else uses.

#include "optimiser/instance.h"

namespace hopscope::placement {

// Finds the operand of a gather (or the value that it is a view of) and its consumer, whose cut delays one of `hops` by
// a stage: the earlier stage then computes and stores the operand. Takes the cheapest to store and read; nullopt if no
// single cut delays any. Linear in the instance for each gather.
std::optional<optimiser::Edge> delayingCut(const optimiser::Instance& instance,
                                           const std::vector<optimiser::NodeId>& hops);

}  // namespace hopscope::placement
