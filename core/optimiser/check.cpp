#include "optimiser/check_pins.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "optimiser/graph.h"

namespace hopscope::optimiser {

namespace {

using base::ErrorCode;

base::Status refuse(const std::string& what, const std::string& why, const std::string& hint = {})
{
    return base::fail(ErrorCode::Input, what + ": " + why, hint);
}

bool isCost(double value) { return std::isfinite(value) && value >= 0; }

template <class Tag>
bool inside(base::Id<Tag> id, std::size_t size)
{
    return id.valid() && id.at() < size;
}

std::string nameOf(const Node& node, std::size_t index)
{
    return node.name.empty() ? "node " + std::to_string(index) : "node '" + node.name + "'";
}

std::string flawOfCosts(const Node& node, std::size_t types)
{
    for (const double value : {node.write, node.readD, node.computeD, node.size})
        if (!isCost(value)) return "a cost or the size is negative or not finite";
    for (const auto* list : {&node.readF, &node.computeF})
        if (!list->empty() && list->size() != types) return "frontier costs need one entry per type";
    return {};
}

std::string flawOfOperands(const Instance& in, const Node& node)
{
    const std::size_t size = in.nodes.size();
    for (const NodeId u : node.loc)
        if (!inside(u, size)) return "an operand does not exist";
    for (const NodeId u : node.src) {
        if (!inside(u, size)) return "an operand does not exist";
        if (in.node(u).rows == RowKind::Edge)
            return "'" + in.node(u).name + "' has edge rows and cannot be gathered by source";
    }
    if (node.kind != NodeKind::Hop && !node.src.empty()) return "only hops gather by source";
    if (node.kind == NodeKind::Input && !node.loc.empty()) return "an input must not have operands";
    if (node.kind != NodeKind::Input && node.src.empty() && node.loc.empty()) return "it has no operands";
    return {};
}

std::string flawOfNode(const Instance& in, const Node& node)
{
    if (!inside(node.type, in.types.size())) return "its type does not exist";
    if (node.relation.valid() && !inside(node.relation, in.relations.size())) return "its relation does not exist";
    if (node.relation.valid() && node.kind != NodeKind::Hop) return "only hops have a relation";
    if (std::string flaw = flawOfCosts(node, in.types.size()); !flaw.empty()) return flaw;
    return flawOfOperands(in, node);
}

std::string flawOfPin(const Instance& in, const Pin& pin)
{
    const std::size_t size = in.nodes.size();
    if (!inside(pin.node, size)) return "its value does not exist";
    const Node& node = in.node(pin.node);
    const base::PinThird third = base::thirdOf(pin.kind);
    const bool consumed = third == base::PinThird::Consumer, staged = third == base::PinThird::Stage;
    if (node.kind == NodeKind::Input && !consumed) return "'" + node.name + "' is an input";
    if (staged && node.kind != NodeKind::Hop) return "'" + node.name + "' is not a hop";
    if (staged && pin.stage < 1) return "stages of hops count from 1";
    if (!consumed) return {};
    if (!inside(pin.consumer, size)) return "its consumer does not exist";
    const Node& consumer = in.node(pin.consumer);
    const auto uses = [&](const std::vector<NodeId>& list) { return std::ranges::find(list, pin.node) != list.end(); };
    return uses(consumer.src) || uses(consumer.loc) ? "" : "'" + consumer.name + "' does not use '" + node.name + "'";
}

base::Status checkWhole(const Instance& in)
{
    if (in.types.empty()) return refuse("instance", "it has no types");
    if (in.stages < 1 || in.stages > 10000)
        return refuse("instance", "the number of stages must be between 1 and 10000");
    if (!isCost(in.stageCost)) return refuse("instance", "the stage cost is negative or not finite");
    if (in.hostBudget && !isCost(*in.hostBudget))
        return refuse("instance", "the host budget is negative or not finite");
    for (const Relation& r : in.relations)
        if (!isCost(r.structureCost)) return refuse("relation '" + r.name + "'", "its cost is negative or not finite");
    if (in.outputs.empty()) return refuse("instance", "it has no outputs");
    for (const NodeId o : in.outputs)
        if (!inside(o, in.nodes.size())) return refuse("instance", "an output does not exist");
    return {};
}

base::Status checkNodes(const Instance& in)
{
    std::set<std::string> names;
    for (std::size_t i = 0; i < in.nodes.size(); ++i) {
        const Node& node = in.nodes[i];
        if (const std::string flaw = flawOfNode(in, node); !flaw.empty()) return refuse(nameOf(node, i), flaw);
        if (!names.insert(node.name).second) return refuse(nameOf(node, i), "another node has the same name");
    }
    return {};
}

bool belowOwnRows(const Graph& g, int v)
{
    const int own = g.type(v);
    return g.readF(v, own) < g.node(v).readD || (g.frontier[v] && g.computeF(v, own) < g.node(v).computeD);
}

// Where frontier rows can be needed, their costs have to be given: the reader marks those that a document leaves out.
base::Status checkFrontierCosts(const Graph& g)
{
    for (int v = 0; v < g.count; ++v)
        for (int t = 0; t < g.types; ++t) {
            if (g.lastFrontier(v, t) == Graph::never) continue;
            if (!isCost(g.readF(v, t)) || (g.frontier[v] && !isCost(g.computeF(v, t))))
                return refuse("node '" + g.node(v).name + "'",
                              "its cost on frontier rows of type '" + g.in.types[t] + "' is missing or invalid",
                              "batches of that type gather this value");
            if (t == g.type(v) && belowOwnRows(g, v))
                return refuse(
                    "node '" + g.node(v).name + "'",
                    "it costs less on frontier rows of its own type than on its own rows, which are among them",
                    "raise rF or cF of type '" + g.in.types[t] + "', or lower rD or cD");
        }
    return {};
}

}  // namespace

base::Status checkPins(const Instance& in)
{
    for (const Pin& pin : in.pins)
        if (const std::string flaw = flawOfPin(in, pin); !flaw.empty())
            return refuse(std::string("pin ") + base::nameOf(pin.kind), flaw);
    for (const Edge& e : in.requiredReads)
        if (const std::string flaw = flawOfPin(in, {PinKind::Cut, e.from, e.to}); !flaw.empty())
            return refuse("required read", flaw);
    return {};
}

base::Status check(const Instance& instance)
{
    for (auto* const part : {checkWhole, checkNodes, checkPins})
        if (const base::Status status = part(instance); !status) return status;
    const Graph graph(instance);
    if (static_cast<int>(graph.order.size()) != graph.count) {
        std::vector<std::uint8_t> sorted(instance.nodes.size(), 0);
        for (const int v : graph.order) sorted[v] = 1;
        const auto stuck = static_cast<std::size_t>(std::ranges::find(sorted, 0) - sorted.begin());
        return refuse(nameOf(instance.nodes[stuck], stuck), "it depends on itself, or on a node that does");
    }
    return checkFrontierCosts(graph);
}

}  // namespace hopscope::optimiser
