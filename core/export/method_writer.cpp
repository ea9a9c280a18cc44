#include "export/method_writer.h"

#include "analysis/naming/table_labels.h"
#include "executor/failure.h"

namespace hopscope::exporter {

using schema::ArgumentKind;
using schema::CodeArgument;

std::string Weights::attribute(ir::ValueId id)
{
    const auto known = m_weights.find(id);
    if (known != m_weights.end()) return "self." + known->second.attribute;
    const ir::Value& value = m_analysis.program.value(id);
    const bool parameter = value.origin == ir::Origin::Parameter && !value.name.empty();
    const std::string name = parameter ? value.name : "constant." + std::to_string(id.index);
    const std::string stem = identifier(name);
    std::string attribute = stem;
    for (int n = 2; !m_taken.insert(attribute).second; ++n) attribute = stem + "_" + std::to_string(n);
    m_weights[id] = {.attribute = attribute, .name = name, .value = id};
    return "self." + attribute;
}

std::vector<schema::CodeWeight> Weights::list() const
{
    std::vector<schema::CodeWeight> weights;
    for (const auto& [value, weight] : m_weights) weights.push_back(weight);
    return weights;
}

std::string keyLabel(const analysis::Analysis& analysis, ir::KeyId key)
{
    static const std::string own = " + the row number";
    std::string label = analysis::nameOfKey(analysis, key);
    for (std::size_t at = label.find(own); at != std::string::npos; at = label.find(own)) label.erase(at, own.size());
    return label;
}

std::string MethodWriter::argument(CodeArgument wanted, const std::string& label)
{
    for (const CodeArgument& known : m_arguments) {
        wanted.name = known.name;
        if (known == wanted) return known.name;
    }
    const bool number = wanted.kind == ArgumentKind::Count || wanted.kind == ArgumentKind::Size;
    wanted.name = m_method.parameter(label, number);
    m_arguments.push_back(wanted);
    return wanted.name;
}

Text MethodWriter::size(ir::SpaceId space)
{
    m_context.needs.sizes.insert(space);
    CodeArgument size{.kind = ArgumentKind::Size};
    size.table = m_context.ids.space(space);
    return argument(size, "all " + analysis::tableLabel(m_context.analysis.tables, space));
}

std::string MethodWriter::whole(ir::ValueId id)
{
    const auto known = m_whole.find(id);
    if (known != m_whole.end()) return known->second;
    const analysis::Analysis& a = m_context.analysis;
    const ir::Value& value = a.program.value(id);
    if (value.origin == ir::Origin::Parameter || value.origin == ir::Origin::Constant)
        return m_context.weights.attribute(id);
    const bool made = value.origin == ir::Origin::Op;
    const bool reduced = made && a.info(value.producer).kind == analysis::OpKind::Reduce;
    if (made && a.available(id)) m_context.needs.values.insert(id);
    if (a.available(id) || reduced)
        return m_whole[id] = argument({.kind = ArgumentKind::Whole, .value = id}, m_context.names[id]);
    if (a.hasRows(id))
        executor::raise(base::ErrorCode::Unsupported,
                        "export cannot write a split that needs all rows of a value at once", {},
                        analysis::placeOfValue(a, id));
    computeWhole(a.program.op(value.producer));
    return m_whole.at(id);
}

void MethodWriter::computeWhole(const ir::Op& op)
{
    const analysis::Analysis& a = m_context.analysis;
    Surroundings around;
    around.local = around.global = [this](ir::SpaceId s) { return size(s); };
    around.item = [this](ir::ValueId v) { return whole(v); };
    around.operand = [&](ir::Slot slot, ir::ValueId v) -> Text {
        if (a.info(op.id).use(slot).use != analysis::Use::Shape) return whole(v);
        return dummyText(a, v, Numbers(a, around.item).shape(v, around.local));
    };
    const std::vector<std::string> made = m_context.calls.write(m_method, op, around);
    for (std::size_t i = 0; i < op.outputs.size(); ++i) m_whole[op.outputs[i]] = made.at(i);
}

std::vector<CodeArgument> MethodWriter::arguments() const
{
    std::vector<CodeArgument> left;
    for (const Parameter& p : m_method.parameters())
        for (const CodeArgument& a : m_arguments)
            if (a.name == p.name) left.push_back(a);
    return left;
}

}  // namespace hopscope::exporter
