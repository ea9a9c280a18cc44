#pragma once

// The optimum by looking at everything: an oracle for instances of up to a dozen nodes.

#include <optional>

#include "optimiser/instance.h"

namespace hopscope::test {

// The cost of the cheapest legal placement, or nothing where there is none. All sets of stored values, all ways to fill
// each stage, all sequences of stages. Exponential.
std::optional<double> bruteForce(const optimiser::Instance& instance);

}  // namespace hopscope::test
