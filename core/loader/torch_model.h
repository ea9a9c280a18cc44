#pragma once

// The parts of a loaded model that need LibTorch's types. For the LibTorch modules only.

#include <torch/csrc/jit/api/module.h>

#include "loader/tensors.h"

namespace hopscope::loader {

struct Model::Impl {
    ModelInfo info;
    torch::jit::Module module;  // in eval mode; its tensors and the devices in its code are on the CPU
};

// Assembles the arguments of forward, in order, from the data keys. Elements of dictionaries, lists and tuples and
// parts of sparse matrices are collected; without data, arguments of an optional type are None, and others have their
// default. Fails as bind() does for a part of a graph, but checks neither types nor spelling.
base::Result<std::vector<c10::IValue>> assembleInputs(const Model& model, const base::TensorMap& inputs);

// Returns options with the dtype of a number as a tensor: bool, int64, and float64 for all other numbers.
at::TensorOptions scalarOptions(const c10::IValue& number);
// Returns a dictionary key as a part of a name: "user" in "x.user".
std::string keyText(const c10::IValue& key);

// Returns the tensors in the result of forward, and its numbers as tensors, with their names in Program::outputs
// ("out", "out.0", "out.KEY"). Omits None. Fails with Unsupported for objects of other types.
base::Result<std::vector<std::pair<std::string, at::Tensor>>> flattenOutputs(const c10::IValue& result);

}  // namespace hopscope::loader
