#pragma once

// Private to analysis.

#include <vector>

#include "analysis/analysis.h"
#include "ir/program.h"

namespace hopscope::analysis {

// aggregate(.. x ..) W + b becomes aggregate(.. x W ..) + b if W makes rows narrower (moved_products.h states when the
// two are equal): fewer columns are gathered, added up and stored. They are equal for real numbers; floating-point sums
// round differently. `moved` gets a record for each place, in the order of the program. Only sound on functional
// programs. Linear in the operators.
ir::Program reassociate(const ir::Program& program, std::vector<Reassociation>& moved);

}  // namespace hopscope::analysis
