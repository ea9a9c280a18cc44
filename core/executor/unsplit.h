#pragma once

// Evaluates the program operator by operator on whole tensors, without stages and batches: the reference for verifying
// the values that a run stores. It shares with the executor only the code that calls single operators, but no blocks,
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

// Returns the requested values, contiguous and owned by their views. Needs memory for these, and for each intermediate
// value until its last use. Fails with Input, Resources, Cancelled (checked between operators) or Internal.
base::Result<std::map<ir::ValueId, base::TensorView>>
evaluateUnsplit(const loader::Walk& walk, const analysis::Analysis& analysis, const base::TensorMap& inputs,
                const std::vector<ir::ValueId>& values, const std::string& folder, std::stop_token stop);

// How many rows each mask over a table selects: the sizes of tables that do not follow from those of the inputs. Linear
// in the rows, no features are computed. Fails like evaluateUnsplit().
base::Result<std::map<ir::SpaceId, std::int64_t>> countSelected(const loader::Walk& walk,
                                                                const analysis::Analysis& analysis,
                                                                const base::TensorMap& inputs,
                                                                const std::string& folder, std::stop_token stop);

}  // namespace hopscope::executor
