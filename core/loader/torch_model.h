#pragma once

// LibTorch's side of a loaded model. Only the LibTorch rooms (loader, executor, verify, export) include this header.

#include <torch/script.h>

#include <unordered_map>

#include "loader/loader.h"

namespace hopscope::loader {

struct Model::Impl {
    ModelInfo info;
    torch::jit::Module module;  // on the CPU and for the CPU, in eval mode
};

struct Walk::Tensors {
    std::unordered_map<std::int32_t, at::Tensor> byValue;  // Parameter and Constant values; on the CPU
};

at::ScalarType scalarType(base::DType dtype);
base::Result<base::DType> dtypeOf(at::ScalarType type);  // Unsupported for quantised and other exotic types

// A tensor that shares the view's bytes (read-only by convention) and keeps its owner alive.
at::Tensor toTensor(const base::TensorView& view);
// A view that keeps the tensor alive; the tensor must be on the CPU and strided.
base::TensorView toView(const at::Tensor& tensor);

// Data keys to the IValues that forward takes, in its order: Dict and List arguments assembled, absent optionals None.
base::Result<std::vector<c10::IValue>> assembleInputs(const Model& model, const base::TensorMap& inputs);

// The dtype of a Python number as a tensor: bool, int64, float64.
at::TensorOptions scalarOptions(const c10::IValue& number);
// A dictionary key as it appears in names.
std::string keyText(const c10::IValue& key);

// The tensors of forward's result with their names ("out", "out.0", "out.KEY"), as Program::outputs names them.
base::Result<std::vector<std::pair<std::string, at::Tensor>>> flattenOutputs(const c10::IValue& result);

}  // namespace hopscope::loader
