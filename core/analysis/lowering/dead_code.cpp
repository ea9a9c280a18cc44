#include "analysis/lowering/dead_code.h"

namespace hopscope::analysis {

namespace {

std::vector<bool> liveOps(const ir::Program& p)
{
    std::vector<bool> live(p.ops.size(), false), wanted(p.values.size(), false);
    for (const ir::NamedValue& o : p.outputs) wanted[o.value.at()] = true;
    for (const ir::Guard& g : p.guards) wanted[g.condition.at()] = true;
    for (std::size_t i = p.ops.size(); i-- > 0;) {
        for (ir::ValueId v : p.ops[i].outputs) live[i] = live[i] || wanted[v.at()];
        if (live[i]) ir::forEachOperand(p.ops[i], [&](ir::Slot, ir::ValueId v) { wanted[v.at()] = true; });
    }
    return live;
}

void renumber(ir::Arg& arg, const std::vector<ir::ValueId>& map)
{
    if (const ir::ValueId* v = arg.value()) arg.data = map[v->at()];
    else if (auto* list = std::get_if<ir::ArgList>(&arg.data))
        for (ir::Arg& a : *list) renumber(a, map);
}

std::vector<bool> usedValues(const ir::Program& p)
{
    std::vector<bool> used(p.values.size(), false);
    for (const ir::NamedValue& o : p.outputs) used[o.value.at()] = true;
    for (const ir::Op& op : p.ops) ir::forEachOperand(op, [&](ir::Slot, ir::ValueId v) { used[v.at()] = true; });
    return used;
}

bool isExtremumAlong(const ir::Op& op)
{
    const bool extremum = op.name == "aten::max" || op.name == "aten::min";
    return extremum && op.overload == "dim" && op.outputs.size() == 2 && op.args.size() == 3;
}

}  // namespace

void dropUnusedPositions(ir::Program& p)
{
    const std::vector<bool> used = usedValues(p);
    for (ir::Op& op : p.ops) {
        if (!isExtremumAlong(op) || used[op.outputs[1].at()]) continue;
        op.name = op.name == "aten::max" ? "aten::amax" : "aten::amin";
        op.overload.clear();
        op.args[1] = ir::Arg{ir::ArgList{op.args[1]}};
        op.argInfo[1].type = ir::ArgType::IntList;
        op.outputs.resize(1);
    }
}

ir::Program removeDead(const ir::Program& p)
{
    const std::vector<bool> live = liveOps(p);
    ir::Program out;
    std::vector<ir::ValueId> map(p.values.size());
    const auto keep = [&](const ir::Value& value) {
        map[value.id.at()] = ir::ValueId(out.values.size());
        out.values.push_back(value);
        out.values.back().id = map[value.id.at()];
    };
    for (const ir::Value& v : p.values)
        if (v.origin != ir::Origin::Op) keep(v);
    for (const ir::Op& op : p.ops) {
        if (!live[op.id.at()]) continue;
        out.ops.push_back(op);
        ir::Op& copy = out.ops.back();
        copy.id = ir::OpId(out.ops.size() - 1);
        for (ir::Arg& a : copy.args) renumber(a, map);
        for (ir::ValueId& v : copy.outputs) {
            keep(p.value(v));
            v = map[v.at()];
            out.values.back().producer = copy.id;
        }
    }
    for (const ir::NamedValue& n : p.inputs) out.inputs.push_back({n.name, map[n.value.at()]});
    for (const ir::NamedValue& n : p.outputs) out.outputs.push_back({n.name, map[n.value.at()]});
    out.guards = p.guards;
    for (ir::Guard& g : out.guards) g.condition = map[g.condition.at()];
    return out;
}

}  // namespace hopscope::analysis
