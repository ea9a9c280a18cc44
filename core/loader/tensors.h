#pragma once

// Tensors of the rest of the project as LibTorch's, and the reverse. Needs LibTorch's tensors only: torch_model.h has what
// knows TorchScript, which takes a compiler three times as long to read. For the LibTorch modules only.

#include <ATen/ATen.h>

#include <unordered_map>

#include "loader/loader.h"

namespace hopscope::loader {

struct Walk::Tensors {
    std::unordered_map<std::int32_t, at::Tensor> byValue;  // Parameter and Constant values; on the CPU
};

at::ScalarType scalarType(base::DType dtype);
base::Result<base::DType> dtypeOf(at::ScalarType type);  // Unsupported for quantised and other exotic types

// A tensor that shares the view's bytes (read-only by convention) and keeps its owner alive.
at::Tensor toTensor(const base::TensorView& view);
// A view that keeps the tensor alive; the tensor must be on the CPU and strided.
base::TensorView toView(const at::Tensor& tensor);

}  // namespace hopscope::loader
