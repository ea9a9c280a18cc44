#pragma once

// Builds a TorchScript graph from the nodes of an exported program. For the LibTorch modules only.

#include <string>
#include <string_view>
#include <vector>

#include "loader/exported/provenance.h"
#include "loader/exported/symbols.h"
#include "loader/exported/values.h"

namespace hopscope::loader::exported {

// The prefix of operators whose arguments contain graphs.
inline constexpr std::string_view higherOrder = "torch.ops.higher_order.";

class GraphBuilder {
public:
    GraphBuilder(const std::string& file, torch::jit::Graph& graph)
        : m_place{.file = file, .node = {}, .op = {}},
          m_graph(graph),
          m_values(m_place, graph),
          m_symbols(m_place, graph),
          m_scopes(graph)
    {}

    // Values are defined before the nodes that use them; nodes are added in their order.
    Values& values() { return m_values; }
    void add(const json::Reader& node);
    // To be called after the last node.
    void leaveNodes() { m_place.node.clear(); }

private:
    using Value = torch::jit::Value;
    struct Named {
        std::string name;
        json::Reader value;
    };

    void enter(const json::Reader& node, const std::string& target);
    void mark(torch::jit::Node* last, const json::Reader& metadata);
    void addOperator(const json::Reader& node, const std::string& target);
    void addGraph(const json::Reader& node, const std::string& name);
    void inlineGraph(const json::Reader& graph, const std::vector<Value*>& operands, std::vector<Value*>& results);
    void addSymbolic(const json::Reader& node, const std::string& function);
    bool addSpecial(const json::Reader& node, const std::string& name);
    void addCall(const json::Reader& node, const std::string& name, const std::string& overload);
    bool tryCall(const c10::FunctionSchema& schema, const std::vector<Named>& given, const json::Reader& node);
    std::optional<std::vector<Value*>> operandsFor(const c10::FunctionSchema& schema, const std::vector<Named>& given);
    std::vector<Named> arguments(const json::Reader& node) const;
    Value* first(const json::Reader& node);
    void defineResults(const std::vector<Value*>& values, const json::Reader& node);
    void define(const Union& result, Value* value);
    void defineList(Value* list, const json::Reader& tensors);
    std::string resultKind(const json::Reader& node) const;
    void defineNumber(const json::Reader& node, Value* number);

    Place m_place;
    torch::jit::Graph& m_graph;
    Values m_values;
    Symbols m_symbols;
    Scopes m_scopes;
};

}  // namespace hopscope::loader::exported
