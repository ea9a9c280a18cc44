#include "placement/delaying_cut.h"

#include <algorithm>

namespace hopscope::placement {

namespace {

using optimiser::Edge;
using optimiser::Instance;
using optimiser::Node;
using optimiser::NodeId;
using optimiser::NodeKind;

// The instance with all cut pins as required reads, which its depths take into account.
Instance withCuts(Instance instance)
{
    for (const optimiser::Pin& pin : instance.pins)
        if (pin.kind == base::PinKind::Cut) instance.requiredReads.push_back({pin.node, pin.consumer});
    return instance;
}

double costOf(const Instance& instance, const Edge& cut)
{
    const Node& operand = instance.node(cut.from);
    return operand.write + readCostF(operand, instance.node(cut.to).type);
}

// Where an operand cannot be stored (views cannot), the cut lies before it.
std::optional<Edge> storableCut(const Instance& instance, NodeId operand, NodeId consumer)
{
    while (instance.node(operand).noCheckpoint && instance.node(operand).loc.size() == 1) {
        consumer = operand;
        operand = instance.node(operand).loc[0];
    }
    const Node& node = instance.node(operand);
    if (node.kind == NodeKind::Input || node.noCheckpoint) return std::nullopt;
    return Edge{operand, consumer};
}

std::vector<Edge> candidates(const Instance& instance)
{
    std::vector<Edge> found;
    for (std::size_t i = 0; i < instance.nodes.size(); ++i)
        for (const NodeId operand : instance.nodes[i].src)
            if (const auto cut = storableCut(instance, operand, NodeId(static_cast<std::int32_t>(i))))
                found.push_back(*cut);
    std::ranges::stable_sort(found, {}, [&](const Edge& cut) { return costOf(instance, cut); });
    return found;
}

}  // namespace

std::optional<Edge> delayingCut(const Instance& instance, const std::vector<NodeId>& hops)
{
    Instance cut = withCuts(instance);
    const std::vector<int> before = optimiser::depths(cut);
    for (const Edge& candidate : candidates(instance)) {
        cut.requiredReads.push_back(candidate);
        const std::vector<int> after = optimiser::depths(cut);
        if (std::ranges::any_of(hops, [&](NodeId h) { return after[h.at()] > before[h.at()]; })) return candidate;
        cut.requiredReads.pop_back();
    }
    return std::nullopt;
}

}  // namespace hopscope::placement
