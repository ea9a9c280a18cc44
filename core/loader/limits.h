#pragma once

// The conditions of an exported program on its inputs.

#include "loader/loader.h"

namespace hopscope::loader {

// Graph: the inputs are those of a whole graph. Part: a sample of it, to which ranges of sizes do not apply.
enum class Extent : std::uint8_t { Graph, Part };

// Fails with Input, naming the data key, if the program does not accept a size. Ignores missing and sparse inputs.
base::Status checkLimits(const ModelLimits& limits, const base::TensorMap& inputs, Extent extent);
// The types of the inputs likewise.
base::Status checkTypes(const ModelLimits& limits, const base::TensorMap& inputs);

}  // namespace hopscope::loader
