#pragma once

// The conditions of an exported program on its inputs.

#include "loader/loader.h"

namespace hopscope::loader {

// Fails with Input, naming the data key, if the program does not accept a size. Ignores missing and sparse inputs.
base::Status checkLimits(const ModelLimits& limits, const base::TensorMap& inputs, Extent extent);
// Fails with Input if a guard does not hold for these inputs of a whole graph, and with Unsupported if that is not known.
base::Status checkGuards(const ModelInfo& model, const base::TensorMap& inputs);
// Fails with Input if the type of an input is not one that the program takes.
base::Status checkTypes(const ModelLimits& limits, const base::TensorMap& inputs);

}  // namespace hopscope::loader
