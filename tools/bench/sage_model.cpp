#include <torch/csrc/jit/api/module.h>

#include <cmath>
#include <cstring>
#include <random>

#include "bench/sage.h"
#include "graph/safetensors.h"
#include "loader/save_module.h"
#include "loader/torch_model.h"

namespace hopscope::bench {

namespace {

using CompilationUnit = std::shared_ptr<torch::jit::CompilationUnit>;

constexpr const char* linearCode = R"(
def forward(self, x):
    return torch.linear(x, self.weight, self.bias)
)";

constexpr const char* linearWithoutBiasCode = R"(
def forward(self, x):
    return torch.linear(x, self.weight)
)";

constexpr const char* convCode = R"(
def forward(self, x, edge_index):
    src = edge_index[0]
    dst = edge_index[1]
    messages = x.index_select(0, src)
    total = x.new_zeros([x.size(0), x.size(1)]).scatter_add_(0, dst.view(-1, 1).expand_as(messages), messages)
    count = x.new_zeros([x.size(0)]).scatter_add_(0, dst, x.new_ones([dst.size(0)])).clamp(min=1)
    return self.lin_l.forward(total / count.view(-1, 1)) + self.lin_r.forward(x)
)";

// Uniform in +-1/sqrt(inputs), from the generator's bits alone: standard distributions differ between libraries.
at::Tensor randomWeight(const std::vector<std::int64_t>& shape, std::int64_t inputs, std::mt19937_64& random)
{
    at::Tensor tensor = at::empty(shape, at::kFloat);
    const double bound = 1 / std::sqrt(static_cast<double>(inputs));
    float* numbers = tensor.data_ptr<float>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
        numbers[i] = static_cast<float>((std::ldexp(static_cast<double>(random() >> 11), -52) - 1) * bound);
    return tensor;
}

torch::jit::Module linear(const CompilationUnit& unit, std::int64_t in, std::int64_t out, bool bias,
                          std::mt19937_64& random)
{
    torch::jit::Module module("__torch__.Linear", unit, true);
    module.register_parameter("weight", randomWeight({out, in}, in, random), false);
    if (bias) module.register_parameter("bias", randomWeight({out}, in, random), false);
    module.define(bias ? linearCode : linearWithoutBiasCode);
    return module;
}

torch::jit::Module conv(const CompilationUnit& unit, std::int64_t in, std::int64_t out, std::mt19937_64& random)
{
    torch::jit::Module module("__torch__.SAGEConv", unit, true);
    module.register_module("lin_l", linear(unit, in, out, true, random));
    module.register_module("lin_r", linear(unit, in, out, false, random));
    module.define(convCode);
    return module;
}

std::string sageCode(int layers)
{
    std::string code = "\ndef forward(self, x, edge_index):\n";
    for (int i = 0; i < layers; ++i) {
        const std::string call = "self.conv" + std::to_string(i + 1) + ".forward(x, edge_index)";
        code += "    x = " + (i + 1 < layers ? "torch.relu(" + call + ")" : call) + "\n";
    }
    return code + "    return x\n";
}

torch::jit::Module sage(const SageShape& shape)
{
    const CompilationUnit unit = std::make_shared<torch::jit::CompilationUnit>();
    std::mt19937_64 random(shape.seed);
    torch::jit::Module module("__torch__.GraphSAGE", unit, true);
    for (int i = 0; i < shape.layers; ++i) {
        const std::int64_t in = i == 0 ? shape.features : shape.hidden;
        const std::int64_t out = i + 1 == shape.layers ? shape.outputs : shape.hidden;
        module.register_module("conv" + std::to_string(i + 1), conv(unit, in, out, random));
    }
    module.define(sageCode(shape.layers));
    module.eval();
    return module;
}

base::Status writeWeights(const torch::jit::Module& module, const std::string& path)
{
    base::TensorMap weights;
    for (const auto& parameter : module.named_parameters())
        weights[parameter.name] = loader::toView(parameter.value.detach());
    return graph::writeSafetensors(path, weights);
}

}  // namespace

base::Status writeSageModel(const SageShape& shape, const std::string& modelPath, const std::string& weightsPath)
{
    try {
        const torch::jit::Module module = sage(shape);
        if (const base::Status saved = loader::saveModule(module, modelPath); !saved) return saved;
        return writeWeights(module, weightsPath);
    } catch (const std::exception& error) {
        std::string message = error.what();
        message.erase(0, message.find_first_not_of('\n'));
        return base::fail(base::ErrorCode::Internal,
                          "the model cannot be written to " + modelPath + ": " + message.substr(0, message.find('\n')));
    }
}

}  // namespace hopscope::bench
