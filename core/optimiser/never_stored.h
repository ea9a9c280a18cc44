#pragma once

// Private to the optimiser: rules P, I and R of reduce.h.

#include <cstdint>
#include <vector>

#include "optimiser/instance.h"

namespace hopscope::optimiser {

// Sets Node::noCheckpoint where a cheapest placement exists that never stores the node. `kept`: nodes, by index, that
// neither vanish nor decide for others.
void markNeverStored(Instance& instance, const std::vector<std::uint8_t>& kept);

}  // namespace hopscope::optimiser
