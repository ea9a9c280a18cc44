#pragma once

// Private to analysis: multiplies tables that are placed side by side one by one.

#include <vector>

#include "analysis/analysis.h"

namespace hopscope::analysis {

// Replaces linear(cat(x, y z)) by x A + y z B. A and B are the columns of the weight. Products stay where adding them up
// would touch more numbers than the concatenation has. No table is gathered; elementwise operators that treat columns
// alike may stand between. Adds the products to `moved`. Linear in the operators and their parts.
ir::Program multiplySeparately(const ir::Program& program, std::vector<Reassociation>& moved);

}  // namespace hopscope::analysis
