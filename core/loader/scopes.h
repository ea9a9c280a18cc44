#pragma once

// The modules that the nodes of exported programs belong to. The graph of such a program contains the nodes of all
// modules. For the LibTorch modules only.

#include <torch/csrc/jit/ir/ir.h>

#include <string>
#include <vector>

namespace hopscope::loader {

struct ModuleScope {
    std::string path;  // from the model: "convs.1"; empty for the model itself
    std::string type;  // "GCNConv"
};

// Returns a new scope of a module within another scope. Two calls of a module have two scopes.
torch::jit::ScopePtr pushModule(const torch::jit::ScopePtr& outer, const ModuleScope& module);
// Returns the innermost module of a scope that pushModule() made.
ModuleScope moduleOf(const torch::jit::Scope& scope);
// Returns the scope of a node of an exported program; nullptr for nodes of TorchScript code.
torch::jit::ScopePtr scopeOf(const torch::jit::Node& node);

}  // namespace hopscope::loader
