#pragma once

// Private to executor: executes RowDots instructions.

#include <ATen/ATen.h>

#include "executor/program/loop_program.h"

namespace hopscope::executor {

// Returns the sums of a * b along the last dimension, for `rows` rows. a and b are the values of the instruction's
// operands; an operand without rows applies to all rows. If `alone`, only the calling thread is used.
at::Tensor runRowDots(const Instruction& instruction, const analysis::Analysis& analysis, const at::Tensor& a,
                      const at::Tensor& b, std::int64_t rows, bool alone);

}  // namespace hopscope::executor
