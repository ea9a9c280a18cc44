#include "placement/numbered_values.h"

#include <algorithm>
#include <map>
#include <set>

namespace hopscope::placement {

namespace {

using optimiser::Node;
using optimiser::NodeId;

// The value whose elements a view shows.
NodeId viewed(const ModelInstance& model, const analysis::Analysis& analysis, NodeId v)
{
    const Node& node = model.instance.node(v);
    if (node.kind != optimiser::NodeKind::Op || node.loc.size() != 1) return v;
    const ir::OpId producer = analysis.program.value(model.origins[v.at()].value).producer;
    return analysis.info(producer).view ? viewed(model, analysis, node.loc.front()) : v;
}

void addTo(std::vector<double>& costs, optimiser::TypeId type, double cost)
{
    if (type.at() < costs.size()) costs[type.at()] += cost;
}

}  // namespace

void numberByValue(ModelInstance& model, const analysis::Analysis& analysis, const Residency& residency)
{
    std::map<optimiser::RelationId, std::set<NodeId>> gathered;
    std::map<optimiser::RelationId, optimiser::TypeId> types;
    for (const Node& hop : model.instance.nodes) {
        if (!hop.relation.valid()) continue;
        types[hop.relation] = hop.type;
        for (const NodeId v : hop.src) gathered[hop.relation].insert(viewed(model, analysis, v));
    }
    for (const auto& [relation, values] : gathered) {
        double& cost = model.instance.relations[relation.at()].structureCost;
        const double part = cost / static_cast<double>(std::max<std::size_t>(values.size(), 1));
        for (const NodeId v : values) {
            Node& node = model.instance.nodes[v.at()];
            if (!residency.holds(model.origins[v.at()].value)) addTo(node.readF, types[relation], part);
            addTo(node.computeF, types[relation], part);
        }
        cost = 0;
    }
}

}  // namespace hopscope::placement
