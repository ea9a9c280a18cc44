#include "analysis/naming/value_names.h"

#include "analysis/naming/value_namer.h"

namespace hopscope::analysis {

namespace {

OpToName endOfModel(NodeKind kind, const ir::NamedValue& named)
{
    OpToName end{.kind = kind, .name = named.name, .module = {}, .inputs = {}, .outputs = {}};
    (kind == NodeKind::Input ? end.outputs : end.inputs).push_back(named.value);
    return end;
}

OpToName described(const Analysis& a, const ir::Op& op)
{
    OpToName described{.kind = nodeKind(a, op.id),
                       .name = op.name,
                       .module = ir::modulePath(op.modules),
                       .inputs = {},
                       .outputs = op.outputs};
    ir::forEachOperand(op, [&](ir::Slot, ir::ValueId v) { described.inputs.push_back(v); });
    return described;
}

std::vector<OpToName> opsOf(const Analysis& a)
{
    std::vector<OpToName> ops;
    for (const ir::NamedValue& input : a.program.inputs) ops.push_back(endOfModel(NodeKind::Input, input));
    for (const ir::Op& op : a.program.ops) ops.push_back(described(a, op));
    for (const ir::NamedValue& output : a.program.outputs) ops.push_back(endOfModel(NodeKind::Output, output));
    return ops;
}

}  // namespace

ValueNames::ValueNames(const Analysis& analysis)
{
    std::vector<ValueToName> values;
    for (const ir::Value& v : analysis.program.values) {
        const bool known = v.id.at() < analysis.values.size();
        values.push_back({v.name, known && analysis.info(v.id).structureOnly});
    }
    m_names = nameValues(opsOf(analysis), values);
    for (const ir::Value& v : analysis.program.values) m_ids.emplace(m_names[v.id.at()], v.id);
}

std::optional<ir::ValueId> ValueNames::find(const std::string& name) const
{
    const auto it = m_ids.find(name);
    return it == m_ids.end() ? std::nullopt : std::optional(it->second);
}

std::string nameOfValue(const Analysis& analysis, ir::ValueId id) { return ValueNames(analysis)[id]; }

std::string placeOfValue(const Analysis& analysis, ir::ValueId id)
{
    const ir::OpId producer = analysis.program.value(id).producer;
    return producer.valid() ? ir::describeOp(analysis.program.op(producer)) : std::string();
}

std::string nameOfKey(const Analysis& analysis, KeyId id)
{
    if (!id.valid()) return "none";
    const Key& key = analysis.tables.key(id);
    switch (key.kind) {
    case KeyKind::End: return "row " + std::to_string(key.end);
    case KeyKind::Foreign:
        return (analysis.program.value(key.column).shape.size() < 2 ? "" : "row " + std::to_string(key.end) + " of ") +
               nameOfValue(analysis, key.column);
    case KeyKind::Of: return nameOfKey(analysis, key.second) + " by way of " + nameOfKey(analysis, key.first);
    case KeyKind::Parts: {
        std::string text;
        for (const KeyId part : key.parts) text += (text.empty() ? "" : " + ") + nameOfKey(analysis, part);
        return text;
    }
    default: return "the row number";
    }
}

NodeKind nodeKind(const Analysis& analysis, ir::OpId op)
{
    if (op.at() >= analysis.ops.size()) return NodeKind::Rowwise;
    const OpInfo& info = analysis.info(op);
    if (info.structureOnly) return NodeKind::Structure;
    switch (info.kind) {
    case OpKind::Gather: return NodeKind::Gather;
    case OpKind::Aggregate: return NodeKind::Aggregate;
    case OpKind::Reduce: return NodeKind::Reduce;
    default: return NodeKind::Rowwise;
    }
}

}  // namespace hopscope::analysis
