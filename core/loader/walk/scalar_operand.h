#pragma once

// Traced code contains Python numbers as tensors without dimensions: mask * 2.0 becomes aten::mul.Tensor(mask,
// tensor(2.)).

#include <memory>

#include <torch/csrc/jit/runtime/operator.h>

#include "loader/walk/walk_item.h"

namespace hopscope::loader {

// LibTorch's executor turns such a constant into a number again before it runs a graph, but only as the second operand
// of a product or a quotient with a tensor. If that tensor holds integers or truth values, the result is then float32,
// as in Python; otherwise it has the constant's dtype. Returns the operator with which to record such a call so that
// its meaning is the same everywhere, aten::mul.Scalar; nullptr for all other calls. `constant` states that the second
// argument is a constant of the code.
std::shared_ptr<torch::jit::Operator> withNumber(const c10::FunctionSchema& schema, const std::vector<Item>& args,
                                                 bool constant);

}  // namespace hopscope::loader
