#include <algorithm>

#include "optimiser/document.h"
#include "json/optional.h"
#include "json/pin.h"

namespace hopscope::optimiser {

namespace {

using json::Value;

Value names(const Instance& in, const std::vector<NodeId>& ids)
{
    Value list = Value::array();
    for (const NodeId v : ids) list.push(in.node(v).name);
    return list;
}

Value frontierCosts(const Instance& in, const std::vector<double>& costs)
{
    if (costs.empty()) return 0.0;
    if (std::ranges::all_of(costs, [&](double c) { return c == costs[0]; })) return costs[0];
    Value object = Value::object();
    for (std::size_t t = 0; t < costs.size(); ++t) object[in.types[t]] = costs[t];
    return object;
}

void writeCosts(Value& value, const Instance& in, const Node& node)
{
    if (node.kind != NodeKind::Input) value["w"] = node.write;
    value["rD"] = node.readD;
    value["rF"] = frontierCosts(in, node.readF);
    if (node.kind != NodeKind::Input) {
        value["cD"] = node.computeD;
        value["cF"] = frontierCosts(in, node.computeF);
    }
    if (node.size != node.readD) value["size"] = node.size;
}

Value writeNode(const Instance& in, const Node& node)
{
    Value value;
    value["id"] = node.name;
    value["kind"] = base::nameOf(node.kind);
    value["type"] = in.types[node.type.at()];
    if (node.rows == RowKind::Edge) value["rows"] = "E";
    if (!node.src.empty()) value["src"] = names(in, node.src);
    if (!node.loc.empty()) value["loc"] = names(in, node.loc);
    writeCosts(value, in, node);
    if (node.relation.valid()) value["rel"] = in.relations[node.relation.at()].name;
    if (node.noCheckpoint) value["no_checkpoint"] = true;
    if (node.noRecompute) value["no_recompute"] = true;
    return value;
}

Value writePin(const Instance& in, const Pin& pin)
{
    const Value third = pin.consumer.valid() ? Value(in.node(pin.consumer).name) : Value(pin.stage);
    return json::pinValue(pin.kind, in.node(pin.node).name, third);
}

Value frontierNames(const Instance& in, const std::vector<OnFrontier>& cells)
{
    Value list = Value::array();
    for (const OnFrontier& c : cells) {
        const std::string& name = in.node(c.node).name;
        list.push(in.types.size() == 1 ? name : name + "@" + in.types[c.type.at()]);
    }
    return list;
}

}  // namespace

Value writeInstance(const Instance& in)
{
    Value value;
    value["id"] = in.name;
    value["types"] = Value(in.types);
    value["S"] = in.stages;
    value["allow_stage0"] = in.allowStage0;
    value["stage_cost"] = in.stageCost;
    value["structure_cost"] = Value::object();
    for (const Relation& r : in.relations) value["structure_cost"][r.name] = r.structureCost;
    value["host_budget"] = json::orNull(in.hostBudget);
    value["pins"] = Value::array();
    for (const Pin& pin : in.pins) value["pins"].push(writePin(in, pin));
    value["required_reads"] = Value::array();
    for (const Edge& e : in.requiredReads) value["required_reads"].push(names(in, {e.from, e.to}));
    value["nodes"] = Value::array();
    for (const Node& node : in.nodes) value["nodes"].push(writeNode(in, node));
    value["outputs"] = names(in, in.outputs);
    return value;
}

Value writePlacement(const Instance& in, const Placement& placement)
{
    Value plan = Value::array();
    for (const StagePlacement& s : placement.stages) {
        Value stage;
        stage["stage"] = s.stage;
        stage["hops"] = names(in, s.hops);
        stage["compute_D"] = names(in, s.computeD);
        stage["compute_F"] = frontierNames(in, s.computeF);
        stage["read_D"] = names(in, s.readD);
        stage["read_F"] = frontierNames(in, s.readF);
        stage["write"] = names(in, s.written);
        plan.push(std::move(stage));
    }
    return plan;
}

}  // namespace hopscope::optimiser
