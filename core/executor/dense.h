#pragma once

// Private to executor: dense layers on a CPU, by the library that is faster at their shape.

#include <optional>

#include <ATen/core/Tensor.h>

namespace hopscope::executor {

// Whether oneDNN computes products of `k` columns with `n` columns of weights. The rule looks at the shape of the layer
// alone: results have the same bits in every run, whatever batches, cores and machine. Measured with LibTorch 2.13 on
// one core with AVX-512: MKL leaves much of a last vector of 16 columns unused if more than half of it is filled (47
// columns: 1.4 times the time of oneDNN at k = 64, 1.7 times at 512), else it is as fast, and faster on few columns or a
// short k.
bool prefersOneDnn(std::int64_t k, std::int64_t n);

// x * weight^T + bias, as aten::linear; nullopt if that is to be called, because of the rule, the dtype (float32 only)
// or because this LibTorch lacks oneDNN's operator. `bias` may be undefined.
std::optional<at::Tensor> linearByOneDnn(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace hopscope::executor
