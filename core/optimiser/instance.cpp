#include "optimiser/instance.h"

#include <algorithm>

#include "optimiser/graph.h"

namespace hopscope::optimiser {

double readCostF(const Node& node, TypeId type) { return node.readF.empty() ? 0 : node.readF[type.at()]; }
double computeCostF(const Node& node, TypeId type) { return node.computeF.empty() ? 0 : node.computeF[type.at()]; }

std::string describePin(const Instance& instance, const Pin& pin)
{
    const bool consumed = pin.consumer.valid();
    return base::pinText(pin.kind, instance.node(pin.node).name,
                         consumed ? instance.node(pin.consumer).name : std::to_string(pin.stage));
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
