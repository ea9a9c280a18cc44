#include "loader/scopes.h"

namespace hopscope::loader {

using torch::jit::ScopePtr;

namespace {

constexpr char separator = '\n';

}  // namespace

ScopePtr pushModule(const ScopePtr& outer, const ModuleScope& module)
{
    return outer->push(c10::Symbol::scope(module.path + separator + module.type));
}

ModuleScope moduleOf(const torch::jit::Scope& scope)
{
    const std::string name = scope.name().toUnqualString();
    const std::size_t end = std::min(name.find(separator), name.size());
    return {.path = name.substr(0, end), .type = end < name.size() ? name.substr(end + 1) : std::string()};
}

ScopePtr scopeOf(const torch::jit::Node& node)
{
    const ScopePtr scope = const_cast<torch::jit::Node&>(node).scope();  // the accessor is not const
    return scope && !scope->isBlank() ? scope : ScopePtr();
}

}  // namespace hopscope::loader
