#pragma once

// Private to executor: dense layers on a CPU, by the library that is faster at their shape.

#include <optional>

#include <ATen/core/Tensor.h>

#include "executor/dense_shape.h"

namespace hopscope::executor {

// While such an object exists, products of this thread have markedRows() rows, a number that nothing else has: the
// memory trace of small batches then shows whose rows are padded.
class MarkedProducts {
public:
    MarkedProducts();
    ~MarkedProducts();
    MarkedProducts(const MarkedProducts&) = delete;
    MarkedProducts& operator=(const MarkedProducts&) = delete;
};

// x * weight^T + bias, as aten::linear, for rows along the last dimension of x; nullopt if LibTorch's own operator is
// to be called, because of the rule, the dtype (float32 only) or because this LibTorch lacks oneDNN's operator.
// `weight` may be a transposed view, `bias` undefined.
std::optional<at::Tensor> linearByOneDnn(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace hopscope::executor
