#pragma once

// Checks the conditions that an exported program places on its inputs.

#include "loader/loader.h"

namespace hopscope::loader {

// Fails with Input, naming the data key, if the program does not accept a size. Ignores missing and sparse inputs.
base::Status checkLimits(const ModelLimits& limits, const base::TensorMap& inputs, Extent extent);
// Fails with Input if a guard does not hold for these inputs, which are those of a whole graph, and with Unsupported if
// this is unknown.
base::Status checkGuards(const ModelInfo& model, const base::TensorMap& inputs);
// Fails with Input if an input does not have the type that the program accepts.
base::Status checkTypes(const ModelLimits& limits, const base::TensorMap& inputs);

}  // namespace hopscope::loader
