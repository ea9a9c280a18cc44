#include "placement/cost_model.h"

#include <algorithm>

#include "analysis/rows/classes.h"
#include "analysis/stored.h"
#include "operators/operators.h"

namespace hopscope::placement {

using analysis::Analysis;
using ir::RowClass;
using ir::RowKind;
using ir::SpaceId;
using ir::ValueId;

namespace {

constexpr double bytesOfNumber = 8;    // a row number of a block
constexpr double bytesOfWork = 1e-6;   // where the objective is bytes
constexpr double bytesOfStage = 1e-3;  // fewer stages, if nothing else differs

// On a CPU, work on the frontier of a large graph takes several times as long as the same work on a batch's own rows:
// it needs a copy of rows that could be read in place, and batches that are too large for the caches, whose results are
// fresh memory. All other work of its loop leaves the caches with it, which doubles that and more: for operators on edges
// whose results are not fused, several times, which only compiled loops tell. Loops over tables with fewer rows than
// `largeTable` take milliseconds.
constexpr double frontierWork = 8;
constexpr double largeTable = 5e4;

double freshRate(const plan::Machine& machine)
{
    const auto it = std::ranges::find(machine.walls, plan::WallKind::Fresh, &plan::WallRate::kind);
    return it == machine.walls.end() ? machine.elementwise / frontierWork : it->all;
}

double itemsPerRow(const Analysis& a, ValueId v)
{
    const ir::Value& value = a.program.value(v);
    double items = 1;
    for (std::size_t d = 0; d < value.shape.size(); ++d)
        if (static_cast<int>(d) != a.rowDim(v)) items *= static_cast<double>(value.shape[d]);
    return items;
}

// The value whose rows a view in the prologue shows, if they are no larger: an index column that is expanded to the width
// of messages still has one number for each edge.
ValueId shownBy(const Analysis& a, ValueId v)
{
    const ir::OpId producer = a.program.value(v).producer;
    if (!a.info(v).structureOnly || !producer.valid() || !operators::isView(a.program.op(producer).name)) return v;
    ValueId shown = v;
    ir::forEachOperand(a.program.op(producer), [&](ir::Slot slot, ValueId operand) {
        const bool tensor = a.program.value(operand).kind == ir::ValueKind::Tensor;
        if (shown != v || !tensor || a.info(producer).use(slot).use == analysis::Use::Shape) return;
        if (a.rowSpace(operand) == a.rowSpace(v) && itemsPerRow(a, operand) <= itemsPerRow(a, v)) shown = operand;
    });
    return shown == v ? v : shownBy(a, shown);
}

}  // namespace

double rowBytes(const Analysis& a, ValueId v)
{
    return itemsPerRow(a, v) * static_cast<double>(base::itemSize(a.program.value(v).dtype));
}

CostModel::CostModel(const Analysis& analysis, Objective objective, plan::Machine machine, plan::RowCounts rows,
                     base::StoreType store)
    : m_analysis(analysis),
      m_objective(objective),
      m_machine(std::move(machine)),
      m_rows(std::move(rows)),
      m_store(store)
{}

double CostModel::storedRowBytes(ValueId value) const
{
    const auto size = static_cast<double>(base::itemSize(analysis::storedType(m_analysis, value, m_store)));
    return itemsPerRow(m_analysis, value) * size;
}

double CostModel::priced(double bytes, double rate) const
{
    return m_objective == Objective::Bytes ? bytes : bytes / rate + bytes * m_secondsPerByte;
}

CostModel CostModel::leaning(double secondsPerByte) const
{
    CostModel other = *this;
    other.m_secondsPerByte = secondsPerByte;
    return other;
}

Residency residencyOf(const plan::Plan& plan)
{
    return {.tables = {plan.resident.begin(), plan.resident.end()}, .structure = plan.residentStructure};
}

CostModel CostModel::with(Residency residency) const
{
    CostModel other = *this;
    other.m_residency = std::move(residency);
    return other;
}

// Rows that are neither copied nor gathered by the host.
double CostModel::kept(double bytes) const
{
    return m_objective == Objective::Bytes ? 0 : bytes / m_machine.elementwise;
}

double CostModel::rows(const RowClass& on, SpaceId destination) const
{
    const SpaceId table = analysis::tableOf(on);
    const auto known = m_rows.tables.find(table);
    const double all = known == m_rows.tables.end() ? 0 : known->second;
    if (on.kind != RowKind::Frontier) return all;
    const auto it = m_rows.frontiers.find({destination, table});
    return it == m_rows.frontiers.end() ? all : it->second;
}

double CostModel::write(ValueId value, const RowClass& on, SpaceId destination) const
{
    const double bytes = storedRowBytes(value) * rows(on, destination);
    const bool output = std::ranges::find(m_analysis.program.outputs, value, &ir::NamedValue::value) !=
                        m_analysis.program.outputs.end();
    return m_residency.holds(value) && !output ? kept(bytes) : priced(bytes, m_machine.write);
}

// An index column stays with its adjacency.
bool CostModel::stays(ValueId value) const
{
    return m_residency.holds(value) || (m_residency.structure && m_analysis.info(value).role);
}

double CostModel::read(ValueId value, const RowClass& on, SpaceId destination) const
{
    const ValueId shown = shownBy(m_analysis, value);
    const double bytes = storedRowBytes(shown) * rows(on, destination);
    if (stays(value) || stays(shown)) return kept(bytes);
    return priced(bytes, on.kind == RowKind::Frontier ? m_machine.gather : m_machine.read);
}

double CostModel::bytes(ValueId value) const
{
    const auto table = m_rows.tables.find(m_analysis.rowSpace(value));
    return table == m_rows.tables.end() ? 0 : storedRowBytes(value) * table->second;
}

double CostModel::batches(SpaceId destination) const
{
    const auto it = m_rows.batches.find(destination);
    return it == m_rows.batches.end() ? 1 : it->second;
}

double CostModel::relation(SpaceId space, ir::KeyId owner, SpaceId type, SpaceId destination) const
{
    const double numbers = rows(RowClass{RowKind::Batch, destination, {}}, destination) +
                           rows(analysis::owned(m_analysis, space, owner), destination) +
                           rows(RowClass{RowKind::Frontier, type, {}}, destination);
    return priced(bytesOfNumber * numbers, m_machine.structure);
}

double CostModel::stage(SpaceId destination) const
{
    return m_objective == Objective::Bytes ? bytesOfStage : m_machine.batch * batches(destination);
}

double CostModel::compute(ir::OpId op, const RowClass& on, SpaceId destination) const
{
    if (m_analysis.info(op).view) return 0;
    const double n = rows(on, destination);
    if (m_objective == Objective::Bytes) return bytesOfWork * touched(op) * n;
    const bool inTheWay = on.kind == RowKind::Frontier && m_machine.device == "cpu" && n >= largeTable;
    if (!inTheWay) return seconds(op, n) + m_machine.call * batches(destination);
    const double fresh = n * touched(op) / freshRate(m_machine);
    return std::max(seconds(op, n) * frontierWork, fresh) + m_machine.call * batches(destination);
}

double CostModel::seconds(ir::OpId op, double n) const
{
    const bool aggregates = m_analysis.info(op).kind == analysis::OpKind::Aggregate;
    if (!aggregates) return n * (touched(op) / m_machine.elementwise + operations(op) / m_machine.matmul);
    double messages = 0;
    ir::forEachOperand(m_analysis.program.op(op), [&](ir::Slot slot, ValueId v) {
        const analysis::Use use = m_analysis.info(op).use(slot).use;
        const auto table = m_rows.tables.find(m_analysis.info(op).role.space);
        const bool message = use == analysis::Use::Message || use == analysis::Use::SparseSource;
        if (message && table != m_rows.tables.end()) messages += rowBytes(m_analysis, v) * table->second;
    });
    return messages / m_machine.aggregate;
}

// Bytes per row of the results and of the operands that have rows.
double CostModel::touched(ir::OpId op) const
{
    double bytes = 0;
    for (const ValueId v : m_analysis.program.op(op).outputs)
        if (m_analysis.hasRows(v)) bytes += rowBytes(m_analysis, v);
    ir::forEachOperand(m_analysis.program.op(op), [&](ir::Slot slot, ValueId v) {
        const bool read = m_analysis.info(op).use(slot).use != analysis::Use::Shape;
        if (read && m_analysis.program.value(v).kind == ir::ValueKind::Tensor && m_analysis.hasRows(v))
            bytes += rowBytes(m_analysis, v);
    });
    return bytes;
}

// Operations per row of a product with a matrix: two per item of the result and column of the operand with rows.
double CostModel::operations(ir::OpId op) const
{
    const ir::Op& o = m_analysis.program.op(op);
    if (!operators::of(o.name).traits.multiplies) return 0;
    double columns = 0;
    ir::forEachOperand(o, [&](ir::Slot, ValueId v) {
        const ir::Value& value = m_analysis.program.value(v);
        const bool first = columns == 0 && value.kind == ir::ValueKind::Tensor && m_analysis.hasRows(v);
        if (first && !value.shape.empty()) columns = static_cast<double>(value.shape.back());
    });
    return 2 * columns * itemsPerRow(m_analysis, o.outputs.at(0));
}

}  // namespace hopscope::placement
