#include "export/loop_writer.h"

#include <algorithm>

#include "analysis/naming/table_labels.h"
#include "analysis/rows/classes.h"
#include "executor/failure.h"
#include "executor/recipes.h"

namespace hopscope::exporter {

using analysis::OpKind;
using analysis::Use;
using ir::RowClass;
using ir::RowKind;
using schema::ArgumentKind;
using schema::CodeArgument;

LoopWriter::LoopWriter(Context& context, const plan::Loop& loop, const std::set<ir::ValueId>& stored, std::string name)
    : m_context(context),
      m_analysis(context.analysis),
      m_program(context.analysis.program),
      m_loop(loop),
      m_stored(stored),
      m_writer(context, std::move(name))
{
    for (const plan::Step& s : loop.steps) {
        for (const ir::ValueId v : m_program.op(s.op).outputs) m_computed.insert({v, s.rows});
        for (const auto& o : operandsOf(s.op, s.rows)) m_used.insert({o.value, o.rows});
    }
}

void LoopWriter::refuse(const std::string& what, ir::OpId op) const
{
    executor::raise(base::ErrorCode::Unsupported, "export cannot write this split: " + what,
                    "another --strategy or --plan may work; hopscope-engine run needs no export",
                    op.valid() ? ir::describeOp(m_program.op(op)) : std::string());
}

LoopWriter::Operands LoopWriter::operandsOf(ir::OpId op, const RowClass& rows) const
{
    auto operands = analysis::operandRows(m_analysis, op, rows);
    if (!operands)
        refuse("an operator is computed on " + analysis::rowsLabel(m_analysis.tables, rows) +
                   ", where it is not defined",
               op);
    return std::move(*operands);
}

schema::CodeLoop LoopWriter::run()
{
    for (const plan::Step& s : m_loop.steps) step(s);
    for (const plan::Access& w : m_loop.writes) {
        m_returned.emplace_back(fetch(w.value, w.rows));
        m_results.push_back(
            {.value = w.value, .rows = rowsOf(w.rows), .dim = m_analysis.rowDim(w.value), .merge = std::nullopt});
    }
    for (const plan::Step& r : m_loop.reductions) reduce(r);
    method().returns(listed(m_returned));
    method().prune();
    return {.stage = plan::StageId(1),
            .method = method().name(),
            .destination = m_context.ids.space(m_loop.destination),
            .frontier = frontier(),
            .arguments = m_writer.arguments(),
            .results = m_results};
}

void LoopWriter::step(const plan::Step& s)
{
    const ir::Op& op = m_program.op(s.op);
    if (op.outputs.empty() || m_analysis.info(op.outputs[0]).sparse || s.rows.kind == RowKind::All) return;
    if (m_held.contains({op.outputs[0], s.rows})) return;
    const Operands operands = operandsOf(s.op, s.rows);
    if (std::ranges::find(operands, Use::SparseMatrix, &analysis::OperandRows::use) != operands.end())
        return sparseProduct(s, operands);
    const OpKind kind = m_analysis.info(s.op).kind;
    if (kind == OpKind::Select || kind == OpKind::Concat) return rearrange(s, operands);
    call(s.op, s.rows, operands);
}

// ---- where a value comes from

std::string LoopWriter::fetch(ir::ValueId value, const RowClass& rows)
{
    const auto it = m_held.find({value, rows});
    if (it != m_held.end()) return it->second;
    if (m_computed.contains({value, rows}))
        refuse(m_context.names[value] + " is used before it is computed", m_program.value(value).producer);
    if (rows.kind == RowKind::Batch && inFrontier(value, rows.table)) return narrow(value, rows);
    if (executor::isRecipe(m_analysis, value)) return local(value, rows);
    if (!m_analysis.available(value) && !m_stored.contains(value))
        refuse(m_context.names[value] + " is neither stored nor computed in its stage",
               m_program.value(value).producer);
    return read(value, rows);
}

bool LoopWriter::inFrontier(ir::ValueId value, ir::SpaceId type) const
{
    const Held frontier{value, {RowKind::Frontier, type, {}}};
    if (type != m_loop.destination) return false;
    if (m_held.contains(frontier) || m_computed.contains(frontier)) return true;
    return m_used.contains(frontier) && !executor::isRecipe(m_analysis, value);
}

std::string LoopWriter::narrow(ir::ValueId value, const RowClass& rows)
{
    const std::string from = fetch(value, {RowKind::Frontier, rows.table, {}});
    const int dim = m_analysis.rowDim(value);
    const Text part = dim == 0 ? Text(from + "[:" + count(rows) + "]")
                               : Text(from + ".narrow(" + std::to_string(dim) + ", 0, " + count(rows) + ")");
    return m_held[{value, rows}] = method().assign(m_context.names[value] + " batch", part);
}

std::string LoopWriter::read(ir::ValueId value, const RowClass& rows)
{
    const ir::Origin origin = m_program.value(value).origin;
    if (origin == ir::Origin::Op && m_analysis.available(value)) m_context.needs.values.insert(value);
    if (origin == ir::Origin::Parameter || origin == ir::Origin::Constant) m_context.weights.attribute(value);
    CodeArgument wanted{.kind = ArgumentKind::Rows, .value = value};
    wanted.dim = m_analysis.rowDim(value);
    wanted.rows = {rowsOf(rows)};
    return m_held[{value, rows}] = m_writer.argument(wanted, m_context.names[value]);
}

std::string LoopWriter::local(ir::ValueId value, const RowClass& rows)
{
    const ir::OpId op = m_program.value(value).producer;
    const auto operands = analysis::operandRows(m_analysis, op, rows);
    if (!operands) return read(value, rows);
    call(op, rows, *operands);
    return m_held.at({value, rows});
}

// ---- operators

void LoopWriter::call(ir::OpId id, const RowClass& rows, const Operands& operands)
{
    const ir::Op& op = m_program.op(id);
    const std::vector<std::string> made = m_context.calls.write(method(), op, around(id, rows, operands));
    for (std::size_t i = 0; i < op.outputs.size(); ++i) m_held[{op.outputs[i], rows}] = made.at(i);
}

void LoopWriter::rearrange(const plan::Step& s, const Operands& operands)
{
    const ir::ValueId out = m_program.op(s.op).outputs.at(0);
    const std::string dim = std::to_string(m_analysis.rowDim(out));
    CodeArgument order{.kind = ArgumentKind::Parents};
    order.rows = {rowsOf(s.rows)};
    std::vector<Text> parts;
    for (const auto& o : operands) {
        if (o.use != Use::Parent && o.use != Use::Part) continue;
        parts.emplace_back(fetch(o.value, o.rows));
        order.rows.push_back(rowsOf(o.rows));
    }
    method().comesFrom(comesFrom(m_program.op(s.op)));
    Text from = parts.at(0);
    if (m_analysis.info(s.op).kind == OpKind::Concat) {
        order.kind = ArgumentKind::Order;
        from = Text("torch.cat(") + listed(parts) + ", " + dim + ")";
        for (const auto& o : operands)
            if (o.use == Use::Part) m_context.needs.sizes.insert(o.rows.table);
    } else {
        m_context.needs.parents.insert(s.rows.table);
    }
    const std::string name =
        m_writer.argument(order, "order of " + analysis::tableLabel(m_analysis.tables, s.rows.table));
    m_held[{out, s.rows}] = method().assign(m_context.names[out], from + ".index_select(" + dim + ", " + name + ")");
}

// The numbers on the entries of a sparse matrix.
ir::ValueId LoopWriter::entries(ir::ValueId matrix) const
{
    const ir::Value& value = m_program.value(matrix);
    if (value.origin != ir::Origin::Op) refuse("a sparse matrix has no entries", {});
    const ir::Op& op = m_program.op(value.producer);
    const bool made = op.name.find("sparse_co") != std::string::npos;
    return made ? *op.args.at(1).value() : entries(*op.args.at(0).value());
}

void LoopWriter::sparseProduct(const plan::Step& s, const Operands& operands)
{
    const auto matrix = std::ranges::find(operands, Use::SparseMatrix, &analysis::OperandRows::use);
    const auto source = std::ranges::find(operands, Use::SparseSource, &analysis::OperandRows::use);
    if (source == operands.end()) refuse("a sparse matrix is used without a dense one", s.op);
    const analysis::Role& column = m_analysis.info(matrix->value).sparseColumn;
    const RowClass& messages = matrix->rows;
    const std::string weight = fetch(entries(matrix->value), messages);
    const std::string from = fetch(source->value, source->rows);
    const std::string columns = positions(messages, column.space, column.key, source->rows);
    const std::string target = positions(messages, messages.table, messages.key, s.rows);
    if (m_analysis.rowDim(source->value) != 0)
        refuse("a sparse product runs along a dimension other than the first", s.op);
    method().comesFrom(comesFrom(m_program.op(s.op)));
    const ir::ValueId out = m_program.op(s.op).outputs.at(0);
    std::string shape = weight + ".view([-1";
    for (std::size_t d = 1; d < m_program.value(source->value).shape.size(); ++d) shape += ", 1";
    const std::string rows = method().assign("messages", from + ".index_select(0, " + columns + ") * " + shape + "])");
    const std::vector<Text> size = Numbers(m_analysis, {}).shape(out, requiredSize(s.op, s.rows, operands));
    const std::string product =
        method().assign(m_context.names[out],
                        Text(rows + ".new_zeros(") + listed(size) + ").index_add(0, " + target + ", " + rows + ")");
    m_held[{out, s.rows}] = scaled(s, operands, product);
}

// addmm adds a table to the product.
std::string LoopWriter::scaled(const plan::Step& s, const Operands& operands, const std::string& product)
{
    const ir::Op& op = m_program.op(s.op);
    if (op.name.find("addm") == std::string::npos) return product;
    const auto factor = [&op](const char* name) {
        const ir::Arg* const arg = ir::argument(op, name);
        return realText(arg ? arg->number().value_or(1) : 1);
    };
    const Surroundings here = around(s.op, s.rows, operands);
    const Text table = here.operand({0, -1}, *op.args.at(0).value());
    return method().assign(m_context.names[op.outputs.at(0)],
                           table + " * " + factor("beta") + " + " + product + " * " + factor("alpha"));
}

// ---- operands

bool LoopWriter::renumbered(const ir::Op& op, const analysis::OperandRows& o) const
{
    const OpKind kind = m_analysis.info(op.id).kind;
    if (kind != OpKind::Gather && kind != OpKind::Aggregate) return false;
    if (!base::isIntegral(m_program.value(o.value).dtype)) return false;
    if (o.use == Use::Index) return true;
    return o.use == Use::Message && op.name == "aten::bincount" && o.slot.arg == 0;
}

RowClass LoopWriter::numberedIn(const ir::Op& op, const RowClass& rows, const Operands& operands) const
{
    if (m_analysis.info(op.id).kind == OpKind::Aggregate) return rows;
    for (const auto& o : operands)
        if (o.use == Use::Source) return o.rows;
    refuse("a gather has no source", op.id);
}

// Local row numbers in the shape of the index: one number per row, repeated along the other dimensions.
Text LoopWriter::indexText(const ir::Op& op, const RowClass& rows, const analysis::OperandRows& o,
                           const Operands& operands, const SizeText& sizes)
{
    const analysis::Role& role = m_analysis.info(op.id).role;
    const std::string numbers = positions(o.rows, role.space, role.key, numberedIn(op, rows, operands));
    const std::size_t rank = m_program.value(o.value).shape.size();
    if (rank == 1) return numbers;
    std::vector<Text> column(rank, "1");
    column.at(static_cast<std::size_t>(m_analysis.rowDim(o.value))) = "-1";
    return numbers + Text(".view(") + listed(column) + ").expand(" +
           listed(Numbers(m_analysis, {}).shape(o.value, sizes)) + ")";
}

std::optional<Text> LoopWriter::localSize(const RowClass& rows, const Operands& operands, ir::SpaceId space)
{
    if (m_analysis.tables.space(space).kind == analysis::SpaceKind::Graph) return m_writer.size(space);
    if (analysis::tableOf(rows) == space) return Text(count(rows));
    for (const auto& o : operands)
        if (analysis::tableOf(o.rows) == space && m_analysis.hasRows(o.value)) return Text(count(o.rows));
    return std::nullopt;
}

SizeText LoopWriter::requiredSize(ir::OpId op, const RowClass& rows, const Operands& operands)
{
    return [this, op, rows, operands](ir::SpaceId space) {
        if (auto size = localSize(rows, operands, space)) return *size;
        refuse("the number of rows of " + analysis::tableLabel(m_analysis.tables, space) + " is used on " +
                   analysis::rowsLabel(m_analysis.tables, rows),
               op);
    };
}

Surroundings LoopWriter::around(ir::OpId id, const RowClass& rows, const Operands& operands)
{
    Surroundings here;
    here.global = [this](ir::SpaceId s) { return m_writer.size(s); };
    here.local = requiredSize(id, rows, operands);
    here.item = [this](ir::ValueId v) { return m_writer.whole(v); };
    here.operand = [this, id, rows, operands, local = here.local](ir::Slot slot, ir::ValueId v) -> Text {
        const ir::Op& op = m_program.op(id);
        const auto o = std::ranges::find(operands, slot, &analysis::OperandRows::slot);
        if (o == operands.end()) {
            const auto& dims = m_analysis.info(v).dims;
            const bool known = std::ranges::all_of(
                dims, [&](ir::SpaceId s) { return !s.valid() || localSize(rows, operands, s).has_value(); });
            return dummyText(m_analysis, v,
                             known ? std::optional(Numbers(m_analysis, {}).shape(v, local)) : std::nullopt);
        }
        if (renumbered(op, *o)) return indexText(op, rows, *o, operands, local);
        if (o->rows.kind == RowKind::All || !m_analysis.hasRows(v)) return m_writer.whole(v);
        return fetch(v, o->rows);
    };
    return here;
}

// ---- results

LoopWriter::Operands LoopWriter::reducedOperands(const plan::Step& s) const
{
    Operands operands;
    ir::forEachOperand(m_program.op(s.op), [&](ir::Slot slot, ir::ValueId v) {
        if (m_program.value(v).kind != ir::ValueKind::Tensor) return;
        const Use use = m_analysis.info(s.op).use(slot).use;
        if (use == Use::Shape) return;
        const bool rows = use != Use::Whole && m_analysis.hasRows(v);
        operands.push_back({.slot = slot, .value = v, .use = Use::Same, .rows = rows ? s.rows : RowClass{}});
    });
    return operands;
}

void LoopWriter::reduce(const plan::Step& s)
{
    const ir::Op& op = m_program.op(s.op);
    const Operands operands = reducedOperands(s);
    const Surroundings here = around(s.op, s.rows, operands);
    schema::CodeMerge merge;
    method().comesFrom(comesFrom(op));
    const auto call = [&] { return m_context.calls.write(method(), op, here).at(0); };
    const std::vector<Text> tensors = contributionText(m_analysis, op, here, method(), call, merge);
    merge.tensors = static_cast<int>(tensors.size());
    m_returned.insert(m_returned.end(), tensors.begin(), tensors.end());
    m_results.push_back({.value = op.outputs.at(0), .rows = rowsOf(s.rows), .dim = 0, .merge = merge});
}

// ---- arguments

schema::CodeRows LoopWriter::rowsOf(const RowClass& rows)
{
    const std::string table = m_context.ids.space(rows.table);
    m_context.needs.sizes.insert(rows.table);
    if (rows.kind == RowKind::Batch) return {.kind = schema::CodeRowsKind::Batch, .table = table, .key = {}};
    if (rows.kind == RowKind::Frontier) return {.kind = schema::CodeRowsKind::Frontier, .table = table, .key = {}};
    if (rows.kind == RowKind::All) refuse("rows are needed of a value that has none", {});
    m_context.needs.columns.insert({rows.table, rows.key});
    return {.kind = schema::CodeRowsKind::Owned, .table = table, .key = m_context.ids.key(rows.key)};
}

std::string LoopWriter::labelOf(const RowClass& rows) const
{
    const std::string table = analysis::tableLabel(m_analysis.tables, rows.table);
    if (rows.kind == RowKind::Batch) return table + " batch";
    return rows.kind == RowKind::Frontier ? table + " frontier" : table;
}

std::string LoopWriter::count(const RowClass& rows)
{
    CodeArgument wanted{.kind = ArgumentKind::Count};
    wanted.rows = {rowsOf(rows)};
    return m_writer.argument(wanted, "num " + labelOf(rows));
}

std::string LoopWriter::positions(const RowClass& on, ir::SpaceId space, ir::KeyId key, const RowClass& in)
{
    m_context.needs.columns.insert({space, key});
    CodeArgument wanted{.kind = ArgumentKind::Positions};
    wanted.table = m_context.ids.space(space);
    wanted.key = m_context.ids.key(key);
    wanted.rows = {rowsOf(on), rowsOf(in)};
    const std::string end = keyLabel(m_analysis, key);
    return m_writer.argument(wanted, analysis::tableLabel(m_analysis.tables, space) + " " + end);
}

std::vector<schema::CodeFrontier> LoopWriter::frontier()
{
    std::vector<schema::CodeFrontier> sources;
    for (const plan::FrontierSource& s : m_loop.frontier) {
        m_context.needs.columns.insert({s.space, s.key});
        m_context.needs.sizes.insert(s.type);
        sources.push_back({.target = m_context.ids.space(s.type),
                           .table = m_context.ids.space(s.space),
                           .key = m_context.ids.key(s.key),
                           .owner = rowsOf(analysis::owned(m_analysis, s.space, s.owner))});
    }
    return sources;
}

}  // namespace hopscope::exporter
