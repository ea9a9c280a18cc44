#pragma once

// Builds the module and those of its submodules that hold tensors. For the LibTorch modules only.

#include <torch/csrc/jit/api/module.h>

#include <map>
#include <string>

namespace hopscope::loader::exported {

class ModuleTree {
public:
    // `types`: the classes of modules by their paths; "" is the model.
    explicit ModuleTree(std::map<std::string, std::string> types);

    // Adds a parameter or buffer by its dotted name ("convs.0.weight") and returns its value in the graph of the model.
    torch::jit::Value* add(const std::string& name, const at::Tensor& tensor, bool isBuffer, torch::jit::Graph& graph,
                           torch::jit::Value* self);
    // Makes the graph the model's forward.
    torch::jit::Module finish(const std::shared_ptr<torch::jit::Graph>& graph, c10::FunctionSchema schema);
    [[nodiscard]] const torch::jit::Module& root() const { return m_root; }

private:
    [[nodiscard]] torch::jit::Module made(const std::string& path) const;

    std::map<std::string, std::string> m_types;
    std::shared_ptr<torch::jit::CompilationUnit> m_unit = std::make_shared<torch::jit::CompilationUnit>();
    torch::jit::Module m_root;
};

}  // namespace hopscope::loader::exported
