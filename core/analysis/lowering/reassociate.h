#pragma once

// Private to analysis.

#include <vector>

#include "analysis/analysis.h"
#include "ir/program.h"

namespace hopscope::analysis {

// Rewrites aggregate(.. x ..) W + b to aggregate(.. x W ..) + b if W makes rows narrower, so that fewer columns are
// gathered, added up and stored. The two are equal for real numbers under the conditions of moved_products.h;
// floating-point sums round differently. Adds a record to `moved` for each product, in program order. Only sound on
// functional programs. Linear in the operators.
ir::Program reassociate(const ir::Program& program, std::vector<Reassociation>& moved);

}  // namespace hopscope::analysis
