#pragma once

// The location of the walk in the model: the TorchScript node, the modules entered on the way to it, and its Python
// line. Every recorded operator carries its location, and every refusal names it.

#include <torch/csrc/jit/ir/ir.h>

#include <atomic>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/program.h"

namespace hopscope::loader {

// Modules are identified by their attribute path from the model ("convs.1"; "" is the model itself).
class Location {
public:
    using Node = torch::jit::Node;

    // Moves to a node, which must outlive the location. A node with a scope (scopes.h) is in the modules of this scope,
    // regardless of those entered before. After leaveModel(), refusals name no location.
    void moveTo(const Node& node);
    void leaveModel() { m_node = nullptr; }

    // Sets the class of the module at a path, for the frames of later calls.
    void setModuleClass(const std::string& path, const std::string& name) { m_classes[path] = name; }
    // To be called when a method of `caller` calls one of `callee`: adds a frame for each attribute between the two.
    // Returns the argument of leave(), which is to be called afterwards.
    std::size_t enter(const std::string& caller, const std::string& callee);
    void leave(std::size_t depth) { m_modules.resize(depth); }

    [[nodiscard]] const std::vector<ir::ModuleFrame>& modules() const { return m_modules; }
    // Returns the node's source line or, if it has none, that of an instruction before it. Each node is looked up once.
    [[nodiscard]] const ir::Source& source() const;
    // Returns a new operator with this location, without id, operands and results.
    [[nodiscard]] ir::Op newOp(const std::string& name, const std::string& overload) const;

    // Describes the node and its line, without modules. Can be called from any thread while the model is walked on
    // another one.
    [[nodiscard]] std::string place() const;
    // Both throw Refused (walk_item.h) with the location: the first because the model cannot be walked, the second
    // because forward itself threw an exception with the text `what`.
    [[noreturn]] void refuse(const std::string& message, const std::string& hint = {}) const;
    [[noreturn]] void refuseThrown(const std::string& what) const;

private:
    [[nodiscard]] std::string describe() const;
    std::vector<ir::ModuleFrame> framesFor(const std::string& caller, const std::string& callee);
    const std::vector<ir::ModuleFrame>& framesOf(torch::jit::Scope& scope);

    std::atomic<const Node*> m_node = nullptr;
    std::vector<ir::ModuleFrame> m_modules;
    std::map<std::string, std::string> m_classes;  // by path
    std::unordered_map<const torch::jit::Scope*, std::vector<ir::ModuleFrame>> m_scopes;
    std::int32_t m_calls = 0;
    mutable std::unordered_map<const Node*, ir::Source> m_sources;
};

}  // namespace hopscope::loader
