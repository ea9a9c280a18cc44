#include "placement/instance_pins.h"

#include <algorithm>

#include "analysis/naming/value_names.h"
#include "placement/pins.h"

namespace hopscope::placement {

using ir::ValueId;
using optimiser::Node;
using optimiser::NodeId;
using optimiser::NodeKind;
using plan::Pin;
using plan::PinKind;

InstancePins::NodesOfValues InstancePins::nodesOf(const ModelInstance& model)
{
    NodesOfValues nodes;
    for (std::size_t i = 0; i < model.origins.size(); ++i)
        nodes[model.origins[i].value].emplace_back(static_cast<std::int32_t>(i));
    return nodes;
}

InstancePins::InstancePins(const analysis::Analysis& analysis, const DepTable& table, const NodesOfValues& nodes,
                           ModelInstance& model)
    : m_a(analysis),
      m_table(table),
      m_nodes(nodes),
      m_model(model)
{}

base::Status InstancePins::add(const Pin& pin)
{
    if (const base::Status ok = checkPin(m_a, pin); !ok) return ok;
    m_model.pins.push_back(pin);
    switch (pin.kind) {
    case PinKind::Checkpoint: return store(pin);
    case PinKind::NoCheckpoint:
        for (const NodeId n : nodesOf(pin.value)) push(base::PinKind::NoCheckpoint, n);
        return {};
    case PinKind::Cut: return cut(pin);
    case PinKind::HopStage: return hopStage(pin);
    case PinKind::NoRecompute: return once(pin);
    }
    return {};
}

void InstancePins::push(base::PinKind kind, NodeId node, NodeId consumer, int stage)
{
    m_model.instance.pins.push_back({.kind = kind, .node = node, .consumer = consumer, .stage = stage});
    m_model.pinOf.push_back(m_model.pins.size() - 1);
}

std::vector<NodeId> InstancePins::nodesOf(ValueId value) const
{
    const auto it = m_nodes.find(value);
    return it == m_nodes.end() ? std::vector<NodeId>() : it->second;
}

// An operator computes all its results at once.
std::vector<NodeId> InstancePins::nodesOfOp(ValueId value) const
{
    std::vector<NodeId> found;
    for (const ValueId v : m_a.program.op(m_a.program.value(value).producer).outputs) {
        const std::vector<NodeId> nodes = nodesOf(v);
        found.insert(found.end(), nodes.begin(), nodes.end());
    }
    return found;
}

base::Error InstancePins::notExpressed(ValueId value) const
{
    const bool wanted = !nodesOf(value).empty();
    return base::makeError(
        base::ErrorCode::Unsupported,
        "'" + analysis::nameOfValue(m_a, value) + "'" +
            (wanted ? " cannot be stored: it is complete on rows other than those on which it is needed"
                    : " is never stored: no output of the model depends on its rows"),
        wanted ? "store the values that it is computed from" : "remove the pin", analysis::placeOfValue(m_a, value));
}

// Views are stored only where a pin asks for it.
base::Result<NodeId> InstancePins::storable(ValueId value)
{
    for (const NodeId n : nodesOf(value))
        if (m_model.origins[n.at()].rows == m_table.home(value).rows) {
            m_model.instance.nodes[n.at()].noCheckpoint = false;
            return n;
        }
    return tl::unexpected<base::Error>(notExpressed(value));
}

base::Status InstancePins::store(const Pin& pin)
{
    const base::Result<NodeId> node = storable(pin.value);
    if (!node) return base::forward(node);
    push(base::PinKind::Checkpoint, *node);
    return {};
}

base::Status InstancePins::cut(const Pin& pin)
{
    for (const NodeId consumer : nodesOfOp(pin.consumer)) {
        const Node& node = m_model.instance.node(consumer);
        for (const NodeId operand : nodesOf(pin.value)) {
            const auto isOperand = [&](const std::vector<NodeId>& list) {
                return std::ranges::find(list, operand) != list.end();
            };
            if (!isOperand(node.src) && !isOperand(node.loc)) continue;
            const base::Result<NodeId> stored = storable(pin.value);
            if (!stored || *stored != operand) return tl::unexpected<base::Error>(notExpressed(pin.value));
            push(base::PinKind::Cut, operand, consumer);
        }
    }
    return {};
}

// Through values on edges, each visited once.
std::vector<NodeId> InstancePins::gathersBehind(std::vector<NodeId> open) const
{
    std::vector<NodeId> found;
    std::set<NodeId> seen(open.begin(), open.end());
    while (!open.empty()) {
        const NodeId node = open.back();
        open.pop_back();
        const Node& n = m_model.instance.node(node);
        if (n.kind == NodeKind::Hop) found.push_back(node);
        else
            for (const NodeId operand : n.loc)
                if (m_model.instance.node(operand).rows == optimiser::RowKind::Edge && seen.insert(operand).second)
                    open.push_back(operand);
    }
    std::ranges::sort(found);
    return found;
}

base::Status InstancePins::hopStage(const Pin& pin)
{
    const std::vector<NodeId> nodes = nodesOf(pin.value);
    const std::vector<NodeId> gathers = gathersBehind(nodes);
    if (gathers.empty())
        return base::fail(base::ErrorCode::Unsupported,
                          "'" + analysis::nameOfValue(m_a, pin.value) + "'" +
                              (nodes.empty() ? " is never computed: no output of the model depends on its rows"
                                             : " does not gather from other nodes"));
    for (const NodeId gather : gathers) push(PinKind::HopStage, gather, {}, pin.stage.number);
    return {};
}

base::Status InstancePins::once(const Pin& pin)
{
    const std::vector<NodeId> nodes = nodesOfOp(pin.value);
    if (nodes.size() > 1) {
        const bool apart = nodesOf(pin.value).size() > 1;
        return base::fail(base::ErrorCode::Unsupported,
                          "'" + analysis::nameOfValue(m_a, pin.value) + "'" +
                              (apart ? " is needed on several partitions of its table and computed on each"
                                     : " is one of several results that are computed and stored separately"));
    }
    for (const NodeId node : nodes) {
        const ModelInstance::Origin& from = m_model.origins[node.at()];
        if (from.rows == m_table.home(from.value).rows) m_model.instance.nodes[node.at()].noCheckpoint = false;
        push(base::PinKind::NoRecompute, node);
    }
    return {};
}

std::set<ValueId> sharedByPins(const std::vector<Pin>& pins)
{
    std::set<ValueId> values;
    for (const Pin& pin : pins)
        if (pin.kind != PinKind::NoCheckpoint && pin.kind != PinKind::HopStage) values.insert(pin.value);
    return values;
}

}  // namespace hopscope::placement
