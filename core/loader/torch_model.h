#pragma once

// The parts of a loaded model that need LibTorch's types. For the LibTorch modules only.

#include <torch/csrc/jit/api/module.h>

#include "loader/tensors.h"

namespace hopscope::loader {

struct Model::Impl {
    ModelInfo info;
    torch::jit::Module module;  // in eval mode; its tensors and the devices in its code are on the CPU
};

// The arguments of forward in order, assembled from the data keys: elements of Dict and List arguments are collected,
// optional arguments without data are None. Fails with Input, as bind() does.
base::Result<std::vector<c10::IValue>> assembleInputs(const Model& model, const base::TensorMap& inputs);

// The dtype that a Python number has as a tensor: bool, int64 or float64.
at::TensorOptions scalarOptions(const c10::IValue& number);
// A dictionary key as part of a name: "user" of "x.user".
std::string keyText(const c10::IValue& key);

// The tensors in the result of forward with the names that they have in Program::outputs ("out", "out.0", "out.KEY").
base::Result<std::vector<std::pair<std::string, at::Tensor>>> flattenOutputs(const c10::IValue& result);

}  // namespace hopscope::loader
