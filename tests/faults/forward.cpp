#include "faults/forward.h"

#include "loader/torch_model.h"

namespace hopscope::faults {

base::Result<base::TensorMap> ownForward(const loader::Model& model, const base::TensorMap& data)
{
    auto arguments = loader::assembleInputs(model, data);
    if (!arguments) return base::forward(arguments);
    const at::NoGradGuard noGradients;
    torch::jit::Module module = model.impl().module;
    try {
        const auto outputs = loader::flattenOutputs(module.forward(std::move(*arguments)));
        if (!outputs) return base::forward(outputs);
        base::TensorMap tensors;
        for (const auto& [name, tensor] : *outputs) tensors[name] = loader::toView(tensor.contiguous());
        return tensors;
    } catch (const std::exception& error) {
        return base::fail(base::ErrorCode::Internal, std::string("forward raises: ") + error.what());
    }
}

}  // namespace hopscope::faults
