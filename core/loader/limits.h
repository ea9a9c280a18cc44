#pragma once

// The conditions of an exported program on its inputs.

#include "loader/loader.h"

namespace hopscope::loader {

<<<<<<< HEAD
// Graph: the inputs are those of a whole graph. Part: a sample of it, to which ranges of sizes do not apply.
enum class Extent : std::uint8_t { Graph, Part };

// Fails with Input, naming the data key, if the program does not accept a size. Ignores missing and sparse inputs.
=======
// Fails with Input, naming the data key, where a size is another one than the program takes. Inputs that are missing or sparse
// are passed over.
>>>>>>> guards
base::Status checkLimits(const ModelLimits& limits, const base::TensorMap& inputs, Extent extent);
// Fails with Input where a guard does not hold for these inputs of a whole graph, and with Unsupported where that is not known.
base::Status checkGuards(const ModelInfo& model, const base::TensorMap& inputs);
// Fails with Input where an input has another type than the program takes.
base::Status checkTypes(const ModelLimits& limits, const base::TensorMap& inputs);

}  // namespace hopscope::loader
