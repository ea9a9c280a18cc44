#pragma once

// The program on whole tensors, operator by operator, without stages and without batches: what the values that a split
// stores are compared with. It shares the calling of single operators with the executor, and nothing of its blocks,
// frontiers, kernels, fusion or stores.

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "base/result.h"
#include "base/tensor.h"
#include "loader/loader.h"

namespace hopscope::executor {

// The given values, each contiguous and owned by its view. Memory: all of them, and what lies between, each until its last
// use. Fails with Input, Resources, Cancelled (looked at between operators) and Internal.
base::Result<std::map<ir::ValueId, base::TensorView>>
evaluateUnsplit(const loader::Walk& walk, const analysis::Analysis& analysis, const base::TensorMap& inputs,
                const std::vector<ir::ValueId>& values, const std::string& folder, std::stop_token stop);

}  // namespace hopscope::executor
