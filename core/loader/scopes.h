#pragma once

// The modules that a node belongs to, where its graph contains the nodes of all modules: exported programs. For the LibTorch
// modules only.

#include <torch/csrc/jit/ir/ir.h>

#include <string>
#include <vector>

namespace hopscope::loader {

struct ModuleScope {
    std::string path;  // from the model: "convs.1"; empty for the model itself
    std::string type;  // "GCNConv"
};

// A scope within another one. Two calls of a module have two scopes.
torch::jit::ScopePtr pushModule(const torch::jit::ScopePtr& outer, const ModuleScope& module);
// The innermost module of a scope that pushModule() made.
ModuleScope moduleOf(const torch::jit::Scope& scope);
// The scope of a node of an exported program; nullptr for nodes of TorchScript code.
torch::jit::ScopePtr scopeOf(const torch::jit::Node& node);

}  // namespace hopscope::loader
