#pragma once

// The conditions of an exported program on its inputs.

#include "loader/loader.h"

namespace hopscope::loader {

// Graph: the inputs are those of a whole graph. Part: a sample of it, for which ranges of sizes say nothing.
enum class Extent : std::uint8_t { Graph, Part };

// Fails with Input, naming the data key, where a size is another one than the program takes. Inputs that are missing or sparse
// are passed over.
base::Status checkLimits(const ModelLimits& limits, const base::TensorMap& inputs, Extent extent);
// The types of the inputs likewise.
base::Status checkTypes(const ModelLimits& limits, const base::TensorMap& inputs);

}  // namespace hopscope::loader
