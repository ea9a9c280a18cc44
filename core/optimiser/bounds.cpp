#include "optimiser/bounds.h"

#include <algorithm>

namespace hopscope::optimiser {

void addOnce(std::vector<int>& list, int v)
{
    if (std::ranges::find(list, v) == list.end()) list.push_back(v);
}

Bounds::Bounds(const Instance& instance, bool withPins)
    : cuts(instance.nodes.size()),
      output(instance.nodes.size(), 0),
      pinned(output),
      forbidden(output),
      mayStore(output),
      once(output),
      stagePin(instance.nodes.size(), never)
{
    const auto isInput = [&](NodeId v) { return instance.node(v).kind == NodeKind::Input; };
    for (std::size_t v = 0; v < instance.nodes.size(); ++v) {
        mayStore[v] = !isInput(NodeId(v)) && !instance.nodes[v].noCheckpoint;
        once[v] = instance.nodes[v].noRecompute;
    }
    for (const NodeId o : instance.outputs) output[o.at()] = mayStore[o.at()] = !isInput(o);
    for (const Edge& e : instance.requiredReads) addOnce(cuts[e.to.at()], e.from.index);
    if (withPins)
        for (const Pin& pin : instance.pins) demand(pin, instance.stages);
}

bool Bounds::isCut(int u, int v) const { return std::ranges::find(cuts[v], u) != cuts[v].end(); }

void Bounds::demand(const Pin& pin, int stages)
{
    const std::size_t v = pin.node.at();
    switch (pin.kind) {
    case PinKind::Checkpoint: pinned[v] = 1; break;
    case PinKind::NoCheckpoint: mayStore[v] = 0, forbidden[v] = 1; break;
    case PinKind::Cut: addOnce(cuts[pin.consumer.at()], pin.node.index); break;
    case PinKind::HopStage:
        stagePin[v] = stagePin[v] == never || stagePin[v] == pin.stage ? pin.stage : stages + 1;
        break;
    case PinKind::NoRecompute: once[v] = 1; break;
    }
}

}  // namespace hopscope::optimiser
