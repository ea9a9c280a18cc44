#pragma once

// Private to executor: runs element-wise operators that overwrite their first operand.

#include <ATen/core/Tensor.h>

#include "executor/program/loop_program.h"

namespace hopscope::executor {

// Returns whether the operands are two tensors, without a factor of the second one in add and sub, and without rounding
// in div.
bool isPlainPair(const ir::Op& op, const Instruction& i);

// Runs the operator in place of `tensor`, with `other` if it is defined. Returns false, without any effect, if
// something else refers to the memory of `tensor`, or if the result would have a different type or shape.
bool overwrite(const ir::Op& op, at::Tensor& tensor, const at::Tensor& other);

}  // namespace hopscope::executor
