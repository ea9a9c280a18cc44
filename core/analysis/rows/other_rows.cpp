#include "analysis/rows/other_rows.h"

#include <algorithm>

#include "analysis/lowering/synthetic.h"
#include "analysis/rows/chain.h"
#include "analysis/rows/linear.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

ValueId countAlong(Emitter& emitter, ValueId v, std::int64_t d, std::int64_t now, const ir::Op& place)
{
    ir::Value number;
    number.kind = ir::ValueKind::Int;
    number.number = static_cast<double>(now);
    const auto made = emitter.emit(syntheticOp("scalar::size", {ir::Arg{v}, ir::Arg{d}}, place), {number});
    return made ? made->front() : ValueId{};
}

// The number of added rows, read from the value that was joined to a table.
ValueId addedCount(Emitter& emitter, SpaceId table, const ir::Op& place)
{
    const Analysis& a = emitter.builder().analysis;
    for (const ir::Op& op : a.program.ops) {
        const OpInfo& info = a.info(op.id);
        if (info.kind != OpKind::Concat) continue;
        ValueId found;
        ir::forEachOperand(op, [&](Slot slot, ValueId v) {
            const OperandUse use = info.use(slot);
            const auto part = static_cast<std::size_t>(use.part);
            if (use.use == Use::Part && a.tables.space(info.result).parts.at(part) == table) found = v;
        });
        if (found.valid()) return countAlong(emitter, found, info.dim, a.tables.space(table).rows, place);
    }
    return {};
}

}  // namespace

ValueId rowCount(Emitter& emitter, SpaceId table, const ir::Op& place)
{
    const Analysis& a = emitter.builder().analysis;
    if (a.tables.space(table).isAdded()) return addedCount(emitter, table, place);
    for (std::size_t v = 0; v < a.values.size(); ++v) {
        const auto dim = std::ranges::find(a.values[v].dims, table);
        if (dim == a.values[v].dims.end() || a.values[v].sparse) continue;
        return countAlong(emitter, ValueId(v), dim - a.values[v].dims.begin(), a.sampleSizes.at(table), place);
    }
    return {};
}

OtherRows OtherRows::partOf(Emitter& emitter, SpaceId cat, std::size_t part)
{
    const Analysis& a = emitter.builder().analysis;
    const SpaceId to = a.tables.space(cat).parts.at(part);
    return {emitter, cat, to, a.sampleSizes.at(to), part};
}

ValueId OtherRows::of(ValueId v)
{
    if (!concerns(v)) return v;
    const auto known = m_done.find(v);
    if (known != m_done.end()) return known->second;
    ValueId there = computed(v);
    if (there.valid() && concerns(there)) there = {};  // its size follows from other numbers
    m_done.emplace(v, there);
    return there;
}

bool OtherRows::concerns(ValueId v) const
{
    const ValueInfo& info = m_builder.analysis.info(v);
    return std::ranges::find(info.dims, m_from) != info.dims.end() || (info.size && info.size->sizes.contains(m_from));
}

ValueId OtherRows::computed(ValueId v)
{
    const ir::Value value = m_builder.analysis.program.value(v);
    if (value.origin != ir::Origin::Op) return {};
    const ir::Op op = m_builder.analysis.program.op(value.producer);
    const OpInfo& info = m_builder.analysis.info(op.id);
    const auto& size = m_builder.analysis.info(v).size;
    if (value.kind != ir::ValueKind::Tensor && size && *size == sizeOf(m_from)) return rowCount(m_emitter, m_to, op);
    if (info.kind == OpKind::Select || info.kind == OpKind::Concat)
        return info.result == m_from ? madeOf(op) : ValueId{};
    if (info.kind != OpKind::Rowwise && info.kind != OpKind::Scalar && !looksUp(info)) return {};
    if (!info.prologueReason.empty() || operators::of(op.name).traits.mixesRows) return {};
    return again(op, static_cast<std::size_t>(value.output));
}

// The table that the rows were selected from, or the part that was joined to the others, in the dtype of all.
ValueId OtherRows::madeOf(const ir::Op& op)
{
    const OpInfo& info = m_builder.analysis.info(op.id);
    if (info.kind == OpKind::Select) return *op.args.at(0).value();
    ValueId found;
    ir::forEachOperand(op, [&](Slot slot, ValueId v) {
        const OperandUse use = info.use(slot);
        if (use.use == Use::Part && static_cast<std::size_t>(use.part) == m_part) found = v;
    });
    const base::DType dtype = m_builder.analysis.program.value(op.outputs.at(0)).dtype;
    if (!found.valid() || m_builder.analysis.program.value(found).dtype == dtype) return found;
    Chain chain(m_emitter, op);
    const std::vector<std::int64_t> shape = m_builder.analysis.program.value(found).shape;
    return chain.call("to.dtype", {ir::Arg{found}, ir::Arg{dtypeCode(dtype)}, ir::Arg{false}, ir::Arg{false}}, shape,
                      dtype);
}

// Rows of another table by the numbers that a concatenation holds: each part has its own.
bool OtherRows::looksUp(const OpInfo& info) const
{
    const bool cat = m_builder.analysis.tables.space(m_from).kind == SpaceKind::Cat;
    return cat && info.kind == OpKind::Gather && info.role.space == m_from && info.role.target != m_from;
}

ValueId OtherRows::again(ir::Op op, std::size_t output)
{
    bool possible = true;
    for (ir::Arg& arg : op.args) arg = moved(arg, possible);
    if (!possible) return {};
    if (operators::isFill(op.name)) resize(op);
    std::vector<ir::Value> outputs;
    for (const ValueId out : op.outputs) outputs.push_back(moved(out));
    op.outputs.clear();
    const auto made = m_emitter.emit(std::move(op), outputs);
    return made ? made->at(output) : ValueId{};
}

// A fill says how many rows it makes, maybe as a sum of sizes.
void OtherRows::resize(ir::Op& op)
{
    const std::vector<SpaceId> dims = m_builder.analysis.info(op.outputs.at(0)).dims;
    for (std::size_t i = 0; i < op.argInfo.size(); ++i) {
        auto* const sizes = std::get_if<ir::ArgList>(&op.args[i].data);
        if (op.argInfo[i].name != "size" || !sizes || sizes->size() != dims.size()) continue;
        for (std::size_t d = 0; d < dims.size(); ++d)
            if (const ValueId rows = dims[d] == m_from ? rowCount(m_emitter, m_to, op) : ValueId{}; rows.valid())
                (*sizes)[d] = ir::Arg{rows};
    }
}

ir::Arg OtherRows::moved(const ir::Arg& arg, bool& possible)
{
    if (const ValueId* v = arg.value()) {
        const ValueId there = of(*v);
        possible = possible && there.valid();
        return ir::Arg{there};
    }
    if (!arg.list()) return arg;
    ir::ArgList items;
    for (const ir::Arg& item : *arg.list()) items.push_back(moved(item, possible));
    return ir::Arg{std::move(items)};
}

// Its shape, or the number that it is, on the sample.
ir::Value OtherRows::moved(ValueId v) const
{
    ir::Value value = m_builder.analysis.program.value(v);
    const ValueInfo& info = m_builder.analysis.info(v);
    for (std::size_t i = 0; i < info.dims.size(); ++i)
        if (info.dims[i] == m_from) value.shape[i] = m_count;
    if (value.kind == ir::ValueKind::Tensor || !info.size) return value;
    const auto size = info.size->sizes.find(m_from);
    if (size == info.size->sizes.end()) return value;
    value.number += static_cast<double>(size->second * (m_count - m_builder.analysis.sampleSizes.at(m_from)));
    return value;
}

}  // namespace hopscope::analysis
