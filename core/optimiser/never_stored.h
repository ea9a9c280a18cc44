#pragma once

// Private to the optimiser: rules P, I and R of reduce.h.

#include <cstdint>
#include <vector>

#include "optimiser/instance.h"

namespace hopscope::optimiser {

// Sets Node::noCheckpoint if some cheapest placement never stores the node. `kept`: nodes, by index, that are neither
// removed nor used to decide on others.
void markNeverStored(Instance& instance, const std::vector<std::uint8_t>& kept);

}  // namespace hopscope::optimiser
