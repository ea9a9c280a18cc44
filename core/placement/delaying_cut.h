#pragma once

// Private to placement: what a stage can be filled with that a pin wants and nothing needs.

#include "optimiser/instance.h"

namespace hopscope::placement {

// The operand of a gather (or what it is a view of) and its consumer, whose cut delays one of `hops` by a stage: what
// the earlier stage does then is computing and storing the operand. The cheapest to store and read; none where no single cut delays any. One look at the
// whole instance for each gather.
std::optional<optimiser::Edge> delayingCut(const optimiser::Instance& instance,
                                           const std::vector<optimiser::NodeId>& hops);

}  // namespace hopscope::placement
