#pragma once

// Private to the optimiser: rule F of reduce.h.

#include <cstdint>
#include <vector>

#include "optimiser/reduce.h"

namespace hopscope::optimiser {

// Values that are never stored and have one consumer are fused into it. `kept` (by node of the reduced instance) do not.
void fuse(Reduced& reduced, const std::vector<std::uint8_t>& kept);

}  // namespace hopscope::optimiser
