#include "optimiser/instance.h"

#include <algorithm>

#include "optimiser/graph.h"

namespace hopscope::optimiser {

double readCostF(const Node& node, TypeId type) { return node.readF.empty() ? 0 : node.readF[type.at()]; }
double computeCostF(const Node& node, TypeId type) { return node.computeF.empty() ? 0 : node.computeF[type.at()]; }

std::string describePin(const Instance& instance, const Pin& pin)
{
    const std::string& name = instance.node(pin.node).name;
    switch (pin.kind) {
    case PinKind::Checkpoint: return "store " + name;
    case PinKind::NoCheckpoint: return "never store " + name;
    case PinKind::Cut: return "read " + name + " from a store for " + instance.node(pin.consumer).name;
    case PinKind::HopStage: return "run the gathers for " + name + " in stage " + std::to_string(pin.stage);
    case PinKind::NoRecompute: return "compute " + name + " only once";
    }
    return {};
}

std::vector<int> depths(const Instance& instance)
{
    Instance plain = instance;
    plain.pins.clear();
    return Graph(plain).earliest;
}

int neededStages(const Instance& instance)
{
    const std::vector<int> all = depths(instance);
    return std::max(1, all.empty() ? 1 : *std::ranges::max_element(all));
}

}  // namespace hopscope::optimiser
