#pragma once

// Private to analysis.

#include <vector>

#include "analysis/analysis.h"
#include "ir/program.h"

namespace hopscope::analysis {

// aggregate(.. x ..) W + b becomes aggregate(.. x W ..) + b where W makes rows narrower (moved_products.h says where that
// is the same): fewer columns are gathered, added up and stored. It is what real numbers allow; floating-point sums round
// in other places. `moved` gets a record for each place, in the order of the program. Only sound on functional programs.
// Linear in the operators.
ir::Program reassociate(const ir::Program& program, std::vector<Reassociation>& moved);

}  // namespace hopscope::analysis
