#pragma once

// Private to the optimiser: rules P, I and R of reduce.h.

#include <cstdint>
#include <vector>

#include "optimiser/instance.h"

namespace hopscope::optimiser {

// Sets Node::noCheckpoint of nodes that some cheapest placement never stores. Nodes marked in `kept` (by index) are
// neither changed nor used to decide on others.
void markNeverStored(Instance& instance, const std::vector<std::uint8_t>& kept);

}  // namespace hopscope::optimiser
