#pragma once

// Finds the modules and source lines of the nodes of an exported program. For the LibTorch modules only.

#include <map>
#include <string>
#include <utility>

#include "ir/program.h"
#include "loader/exported/members.h"
#include "loader/scopes.h"

namespace hopscope::loader::exported {

// Returns the innermost line of a Python stack trace that is not in PyTorch's own files; SourceKind::None if there is
// no line at all.
ir::Source sourceIn(const std::string& stackTrace);
// Returns a range from which walk/provenance.h reads this source again.
torch::jit::SourceRange rangeOf(const ir::Source& source);

// Creates the scopes of module stacks
// ("L__self__,,model.GCN;L__self__convs.0,convs.0,torch_geometric.nn.conv.gcn_conv.GCNConv"). Two calls of a module
// have different keys in the file ("convs.0@1").
class Scopes {
public:
    explicit Scopes(torch::jit::Graph& graph) : m_root(graph.current_scope()), m_none(pushModule(m_root, {})) {}
    torch::jit::ScopePtr of(const std::string& moduleStack);

private:
    torch::jit::ScopePtr m_root, m_none;
    std::map<std::string, torch::jit::ScopePtr> m_known;  // by the module stack up to this scope
};

// Returns the modules of a stack, outermost first, including the model itself.
std::vector<ModuleScope> modulesIn(const std::string& moduleStack);

}  // namespace hopscope::loader::exported
