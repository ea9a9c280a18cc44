#pragma once

// Bounds checks for operators of LibTorch that use elements of a tensor as offsets into memory without checking them.
// For the LibTorch modules only.

#include <torch/csrc/jit/runtime/operator.h>

namespace hopscope::loader {

// Returns an operation that runs `op`. If `op` is one of these operators, the operation raises c10::IndexError before
// memory outside a tensor is accessed, and takes additional time linear in the elements. All other operators are not
// slowed down.
torch::jit::Operation boundedOperation(const torch::jit::Operator& op);

}  // namespace hopscope::loader
