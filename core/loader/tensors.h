#pragma once

// Converts between base::TensorView and LibTorch's tensors, and holds the tensors of a walk. Does not include
// TorchScript, whose headers are slow to compile; torch_model.h does. For the LibTorch modules only.

#include <ATen/ATen.h>

#include <unordered_map>

#include "loader/loader.h"

namespace hopscope::loader {

struct Walk::Tensors {
    std::unordered_map<std::int32_t, at::Tensor> byValue;  // Parameter and Constant values; on the CPU
};

at::ScalarType scalarType(base::DType dtype);
base::Result<base::DType> dtypeOf(at::ScalarType type);  // fails with Unsupported for types that base::DType lacks

// Returns a tensor on the view's memory, which it keeps alive. The tensor must not be written to.
at::Tensor toTensor(const base::TensorView& view);
// Returns a view of the tensor's memory, which it keeps alive. The tensor must be strided, on the CPU and of a dtype
// that dtypeOf() knows.
base::TensorView toView(const at::Tensor& tensor);

}  // namespace hopscope::loader
