#pragma once

// Variants of a model's own forward, which show how sensitive it is to rounding. For the oracle's child process.

#include <torch/csrc/jit/api/module.h>

#include "base/tensor.h"

namespace hopscope::verify {

// Weights, constants, and types that the code asks for by their names become float64. Must be called before any code of
// the module runs.
void computeInDouble(torch::jit::Module& module);
base::TensorMap inDouble(const base::TensorMap& inputs);

// Floating-point inputs with their last digit changed. Whole numbers do not change: they may be ids or classes.
base::TensorMap moved(const base::TensorMap& inputs, std::uint64_t seed);

}  // namespace hopscope::verify
