#pragma once

// Operators of LibTorch that use elements of a tensor as offsets into memory without checking them. For the LibTorch
// modules only.

#include <torch/csrc/jit/runtime/operator.h>

namespace hopscope::loader {

// Runs `op`. Raises c10::IndexError if one of the few operators that do not check such numbers would reach beyond the
// memory of a tensor. Linear in these elements for such operators; others are not slowed down.
torch::jit::Operation boundedOperation(const torch::jit::Operator& op);

}  // namespace hopscope::loader
