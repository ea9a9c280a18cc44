#include "analysis/rows/widened.h"

#include <algorithm>

#include "operators/operators.h"

namespace hopscope::analysis {

ValueId Widened::of(ValueId v)
{
    if (!concerns(v)) return v;
    const auto known = m_done.find(v);
    if (known != m_done.end()) return known->second;
    const ValueId wide = computed(v);
    m_done.emplace(v, wide);
    return wide;
}

bool Widened::concerns(ValueId v) const
{
    const ValueInfo& info = m_builder.analysis.info(v);
    return std::ranges::find(info.dims, m_part) != info.dims.end() || (info.size && info.size->sizes.contains(m_part));
}

ValueId Widened::computed(ValueId v)
{
    const ir::Value value = m_builder.analysis.program.value(v);
    if (value.origin != ir::Origin::Op) return {};
    const ir::Op op = m_builder.analysis.program.op(value.producer);
    const OpInfo& info = m_builder.analysis.info(op.id);
    if (info.kind == OpKind::Select) return info.result == m_part ? *op.args.at(0).value() : ValueId{};
    if (info.kind != OpKind::Rowwise && info.kind != OpKind::Scalar) return {};
    if (!info.prologueReason.empty() || operators::of(op.name).traits.mixesRows) return {};
    return again(op, static_cast<std::size_t>(value.output));
}

ValueId Widened::again(ir::Op op, std::size_t output)
{
    bool possible = true;
    for (ir::Arg& arg : op.args) arg = widened(arg, possible);
    if (!possible) return {};
    std::vector<ir::Value> outputs;
    for (const ValueId out : op.outputs) outputs.push_back(widened(out));
    op.outputs.clear();
    const auto made = m_emitter.emit(std::move(op), outputs);
    return made ? made->at(output) : ValueId{};
}

ir::Arg Widened::widened(const ir::Arg& arg, bool& possible)
{
    if (const ValueId* v = arg.value()) {
        const ValueId wide = of(*v);
        possible = possible && wide.valid();
        return ir::Arg{wide};
    }
    if (!arg.list()) return arg;
    ir::ArgList items;
    for (const ir::Arg& item : *arg.list()) items.push_back(widened(item, possible));
    return ir::Arg{std::move(items)};
}

// Its shape, or the number that it is, on the sample.
ir::Value Widened::widened(ValueId v) const
{
    ir::Value value = m_builder.analysis.program.value(v);
    const ValueInfo& info = m_builder.analysis.info(v);
    for (std::size_t i = 0; i < info.dims.size(); ++i)
        if (info.dims[i] == m_part) value.shape[i] = m_count;
    if (value.kind == ir::ValueKind::Tensor || !info.size) return value;
    const auto size = info.size->sizes.find(m_part);
    if (size == info.size->sizes.end()) return value;
    value.number += static_cast<double>(size->second * (m_count - m_builder.analysis.sampleSizes.at(m_part)));
    return value;
}

}  // namespace hopscope::analysis
