#include "executor/structure/owned_rows.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "analysis/rows/classes.h"
#include "loader/tensors.h"
#include "operators/names.h"
#include "operators/operators.h"

namespace hopscope::executor {

using analysis::OpKind;
using analysis::Use;
using ir::ValueId;
using operators::Rule;

namespace {

// Elements: LibTorch's operators compute so many on one core, and they fit into its cache.
constexpr std::int64_t chunkElements = 1 << 15;

std::int64_t widthOf(const at::Tensor& rows) { return rows.size(0) > 0 ? rows.numel() / rows.size(0) : 1; }

}  // namespace

OwnedRows::OwnedRows(Structure& structure, const analysis::Analysis& analysis, Caller& caller, const ir::RowClass& rows)
    : m_structure(structure),
      m_analysis(analysis),
      m_caller(caller),
      m_rows(rows),
      m_order(structure.adjacency(rows.table, rows.key))
{}

// ---- where rows come from

bool OwnedRows::hasClassRows(ValueId value) const
{
    return m_analysis.hasRows(value) && m_analysis.rowSpace(value) == m_rows.table && m_analysis.rowDim(value) == 0 &&
           !m_analysis.info(value).sparse;
}

// Row by row, from operands with the same rows and from those without rows. Excludes operators that number rows: a
// chunk holds rows other than the first ones, in a different order.
bool OwnedRows::isComputed(const ir::Op& op) const
{
    if (operators::of(op.name).rule == Rule::Arange) return false;
    const auto operands = analysis::operandRows(m_analysis, op.id, m_rows);
    const analysis::OpInfo& info = m_analysis.info(op.id);
    const bool byRow = info.kind == OpKind::Rowwise && info.prologueReason.empty();
    if (!byRow || op.outputs.size() != 1 || !operands) return false;
    return std::ranges::all_of(*operands, [&](const analysis::OperandRows& o) {
        return !m_analysis.hasRows(o.value) || (o.rows == m_rows && hasClassRows(o.value));
    });
}

// Whole rows of a table that exists before any stage.
bool OwnedRows::isGathered(const ir::Op& op) const
{
    const analysis::OpInfo& info = m_analysis.info(op.id);
    const Rule rule = operators::of(op.name).rule;
    const bool known = rule == Rule::IndexSelect || rule == Rule::Index || rule == Rule::Embedding;
    if (!known || info.kind != OpKind::Gather || info.dim != 0 || info.role.space != m_rows.table) return false;
    const auto operands = analysis::operandRows(m_analysis, op.id, m_rows);
    if (!operands) return false;
    const std::size_t rank = m_analysis.program.value(op.outputs.at(0)).shape.size();
    return std::ranges::all_of(*operands, [&](const analysis::OperandRows& o) {
        const std::size_t its = m_analysis.program.value(o.value).shape.size();
        return o.use == Use::Index ? its == 1 : o.use == Use::Source && its == rank && m_analysis.available(o.value);
    });
}

void OwnedRows::find(ValueId value)
{
    if (m_sources.contains(value)) return;
    const ir::Value& v = m_analysis.program.value(value);
    Source source;
    if (hasClassRows(value) && v.origin == ir::Origin::Op && !m_structure.has(value)) {
        const ir::Op& op = m_analysis.program.op(v.producer);
        if (isGathered(op)) {
            source = gathered(op);
        } else if (isComputed(op) && !operators::isRandom(op.name)) {
            findOperands(op);
            source.way = Source::Computed;
            source.op = &op;
        }
    }
    if (source.way == Source::Whole) source.table = m_structure.value(value);
    if (source.way == Source::Whole && hasClassRows(value)) source.way = Source::Rearranged;
    m_sources.emplace(value, std::move(source));
}

void OwnedRows::findOperands(const ir::Op& op)
{
    ir::forEachOperand(op, [&](ir::Slot slot, ValueId v) {
        const bool shape = m_analysis.info(op.id).use(slot).use == Use::Shape && m_analysis.knownShape(v);
        if (m_analysis.program.value(v).kind == ir::ValueKind::Tensor && !shape) find(v);
    });
}

OwnedRows::Source OwnedRows::gathered(const ir::Op& op)
{
    const ir::KeyId key = m_analysis.info(op.id).role.key;
    Source source;
    source.way = Source::Gathered;
    const auto operands = analysis::operandRows(m_analysis, op.id, m_rows);
    for (const analysis::OperandRows& o : *operands)
        if (o.use == Use::Source) source.table = m_structure.value(o.value);
    if (key != m_rows.key) source.column = &m_structure.ownedColumn(m_rows.table, m_rows.key, key);
    return source;
}

// ---- chunks

at::Tensor OwnedRows::compute(ValueId value)
{
    find(value);
    const Source& source = m_sources.at(value);
    if (source.way == Source::Rearranged && m_order.inOrder()) return source.table.contiguous();
    const std::int64_t rows = m_order.rows();
    const auto sizes = [&](ir::SpaceId s) { return s == m_rows.table ? rows : m_structure.size(s); };
    const auto dtype = loader::scalarType(m_analysis.program.value(value).dtype);
    at::Tensor all = at::empty(shapeOf(m_analysis, value, sizes), at::TensorOptions().dtype(dtype));
    const std::int64_t each = std::max<std::int64_t>(chunkElements / std::max<std::int64_t>(widthOf(all), 1), 1);
    at::parallel_for(0, (rows + each - 1) / each, 1, [&](std::int64_t begin, std::int64_t end) {
        const c10::InferenceMode inference;
        for (std::int64_t c = begin; c < end; ++c) {
            Chunk chunk{.first = c * each, .count = std::min(each, rows - c * each), .made = {}, .owners = {}};
            all.narrow(0, chunk.first, chunk.count).copy_(rowsIn(chunk, value));
        }
    });
    return all;
}

const at::Tensor& OwnedRows::rowsIn(Chunk& chunk, ValueId value) const
{
    const Source& source = m_sources.at(value);
    if (source.way == Source::Whole) return source.table;
    const auto known = chunk.made.find(value);
    if (known != chunk.made.end()) return known->second;
    at::Tensor made = make(chunk, source);
    return chunk.made.emplace(value, std::move(made)).first->second;
}

at::Tensor OwnedRows::make(Chunk& chunk, const Source& source) const
{
    if (source.way == Source::Computed) return call(chunk, *source.op);
    if (source.way == Source::Gathered && !source.column) return source.table.index_select(0, owners(chunk));
    if (source.way == Source::Gathered) {
        const OwnedColumn& c = *source.column;
        std::byte* const from = c.bytes.get() + chunk.first * (c.wide ? 8 : 4);
        const at::Tensor rows =
            at::from_blob(from, {chunk.count}, at::TensorOptions().dtype(c.wide ? at::kLong : at::kInt));
        return source.table.index_select(0, rows);
    }
    if (m_order.inOrder()) return source.table.narrow(0, chunk.first, chunk.count);
    at::Tensor rows = at::empty({chunk.count}, at::TensorOptions().dtype(at::kLong));
    auto* const to = rows.mutable_data_ptr<std::int64_t>();
    m_order.eachRow(chunk.first, chunk.first + chunk.count,
                    [&](std::int64_t p, std::int64_t row) { to[p - chunk.first] = row; });
    return source.table.index_select(0, rows);
}

at::Tensor OwnedRows::call(Chunk& chunk, const ir::Op& op) const
{
    CallContext context;
    context.globalSizes = m_structure.sizes();
    context.localSizes = [&](ir::SpaceId s) { return s == m_rows.table ? chunk.count : m_structure.size(s); };
    context.operand = [&](ir::Slot, ValueId v) {
        if (m_sources.contains(v)) return rowsIn(chunk, v);
        const auto dtype = loader::scalarType(m_analysis.program.value(v).dtype);
        return at::zeros({}, at::TensorOptions().dtype(dtype)).expand(shapeOf(m_analysis, v, context.localSizes));
    };
    return m_caller.call(op, context).at(0);
}

// For each position of the chunk, the row whose rows these are.
const at::Tensor& OwnedRows::owners(Chunk& chunk) const
{
    if (chunk.owners.defined()) return chunk.owners;
    chunk.owners = at::empty({chunk.count}, at::TensorOptions().dtype(at::kLong));
    auto* const to = chunk.owners.mutable_data_ptr<std::int64_t>();
    const std::int64_t* const ends = m_order.offsets() + 1;
    const std::int64_t* const nodes = m_structure.nodeAt(m_analysis.tables.target(m_rows.table, m_rows.key));
    std::int64_t owner = std::upper_bound(ends, ends + m_order.targets(), chunk.first) - ends;
    for (std::int64_t i = 0; i < chunk.count; ++i) {
        while (m_order.end(owner) <= chunk.first + i) ++owner;
        to[i] = nodes ? nodes[owner] : owner;
    }
    return chunk.owners;
}

}  // namespace hopscope::executor
