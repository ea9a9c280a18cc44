#pragma once

// Private to analysis: creates operators that the model does not contain but the rewriting passes need, with the
// arguments of their ATen schemas.

#include "ir/program.h"

namespace hopscope::analysis {

// Returns an operator. `signature` is one of: "select_scatter", "slice_scatter", "reshape", "transpose.int", "t",
// "permute", "full_like", "zeros_like", "expand", "to.dtype", "add.Tensor", "add.Scalar", "sub.Tensor", "mul.Tensor",
// "div.Tensor", "exp", "log", "rsqrt", "amax", "sum.dim_IntList", "mean.dim", "index.Tensor", "where.self",
// "eq.Tensor", "clamp", "unsqueeze", "lt.Scalar", "gt.Scalar", "ge.Scalar", "ne.Scalar", "eq.Scalar",
// "remainder.Scalar", "logical_and", "mul.Scalar", "slice.Tensor", "select.int", "stack", "cat", "cumsum",
// "hopscope::select_rank", "hopscope::pad_groups", "bincount", "diff", "repeat_interleave.Tensor", "index_select",
// "index_add", "scatter_reduce.two", "expand_as", "new_full", "new_zeros", "mm", "matmul", "linear", "segment_reduce",
// "scalar::size", "scalar::add", "scalar::mul", "scalar::min", "scalar::max". Omitted arguments are None. `like`
// provides the module path and the source line. The caller sets outputs and ids.
ir::Op syntheticOp(const std::string& signature, std::vector<ir::Arg> args, const ir::Op& like);

// Returns TorchScript's number for a dtype (c10::ScalarType).
std::int64_t dtypeCode(base::DType dtype);

}  // namespace hopscope::analysis
