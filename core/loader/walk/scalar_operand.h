#pragma once

// Traced code holds Python numbers as tensors of no dimensions: mask * 2.0 becomes aten::mul.Tensor(mask, tensor(2.)).

#include <memory>

#include <torch/csrc/jit/runtime/operator.h>

#include "loader/walk/walk_item.h"

namespace hopscope::loader {

// LibTorch's executor turns such a constant into a number again before it runs a graph, but only where it is what a
// tensor is multiplied with, or divided by. Where that tensor holds whole numbers or truth values the result is float32
// then, as in Python, and otherwise of the constant's dtype. The operator with which to record such a call so that it says
// the same wherever it runs, aten::mul.Scalar; nullptr for all other calls. `constant`: the second argument is one of the
// code.
std::shared_ptr<torch::jit::Operator> withNumber(const c10::FunctionSchema& schema, const std::vector<Item>& args,
                                                 bool constant);

}  // namespace hopscope::loader
