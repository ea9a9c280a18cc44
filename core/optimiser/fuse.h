#pragma once

// Private to the optimiser: rule F of reduce.h.

#include <cstdint>
#include <vector>

#include "optimiser/reduce.h"

namespace hopscope::optimiser {

// Fuses values that are never stored and have one consumer into that consumer, except for those marked in `kept` (by
// node of the reduced instance).
void fuse(Reduced& reduced, const std::vector<std::uint8_t>& kept);

}  // namespace hopscope::optimiser
