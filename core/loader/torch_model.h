#pragma once

// LibTorch's side of a loaded model. For the LibTorch modules only.

#include <torch/script.h>

#include "loader/tensors.h"

namespace hopscope::loader {

struct Model::Impl {
    ModelInfo info;
    torch::jit::Module module;  // on the CPU and for the CPU, in eval mode
};

// Data keys to the IValues that forward takes, in its order: Dict and List arguments assembled, absent optionals None.
base::Result<std::vector<c10::IValue>> assembleInputs(const Model& model, const base::TensorMap& inputs);

// The dtype of a Python number as a tensor: bool, int64, float64.
at::TensorOptions scalarOptions(const c10::IValue& number);
// A dictionary key as it appears in names.
std::string keyText(const c10::IValue& key);

// The tensors of forward's result with their names ("out", "out.0", "out.KEY"), as Program::outputs names them.
base::Result<std::vector<std::pair<std::string, at::Tensor>>> flattenOutputs(const c10::IValue& result);

}  // namespace hopscope::loader
