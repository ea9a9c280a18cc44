#pragma once

// Private to executor: computes dense layers on a CPU with the library that is faster for their shape.

#include <optional>

#include <ATen/core/Tensor.h>

#include "executor/calls/dense_shape.h"

namespace hopscope::executor {

// During its lifetime, products of this thread have markedRows() rows, a number that no other tensor has. In the memory
// trace of small batches, this identifies the products whose rows are padded.
class MarkedProducts {
public:
    MarkedProducts();
    ~MarkedProducts();
    MarkedProducts(const MarkedProducts&) = delete;
    MarkedProducts& operator=(const MarkedProducts&) = delete;
};

// Returns x * weight^T + bias like aten::linear, for rows along the last dimension of x. Returns nullopt if LibTorch's
// own operator is to be called: because of the rule, because of the dtype (only float32 is supported), or because this
// LibTorch lacks oneDNN's operator. `weight` may be a transposed view, `bias` undefined.
std::optional<at::Tensor> linearByOneDnn(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace hopscope::executor
