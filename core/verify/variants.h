#pragma once

// Makes variants of a model's own forward, which show its sensitivity to rounding. For the oracle's process.

#include <torch/csrc/jit/api/module.h>

#include "base/tensor.h"

namespace hopscope::verify {

// Converts weights, constants and dtypes that the code names to float64. Call it before any code of the module runs.
void computeInDouble(torch::jit::Module& module);
base::TensorMap inDouble(const base::TensorMap& inputs);

// Returns the inputs with the last digit of floating-point numbers changed. Whole numbers remain unchanged, since they
// may be ids or classes.
base::TensorMap moved(const base::TensorMap& inputs, std::uint64_t seed);

}  // namespace hopscope::verify
