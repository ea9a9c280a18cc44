#include "executor/program/in_place.h"

#include <algorithm>

#include "executor/recipes.h"
#include "operators/operators.h"

namespace hopscope::executor {

using analysis::OpKind;
using analysis::Use;
using ir::RowKind;

TablesInPlace::TablesInPlace(const analysis::Analysis& analysis, const plan::Loop& loop,
                             const std::vector<StepUse>& uses, const Fuser& fuser, const Given& given)
    : m_analysis(analysis),
      m_loop(loop),
      m_uses(uses),
      m_fuser(fuser),
      m_gathers(given.way != Way::Batches)
{
    for (int i = 0; i < static_cast<int>(loop.steps.size()); ++i) {
        for (const ir::ValueId v : analysis.program.op(step(i).op).outputs) m_computed.insert({v, step(i).rows});
        const Fusion* const f = fuser.at(i);
        if (f && f->gather >= 0) ++m_readers[{f->source, f->shape.sourceRows}];
        else if (const analysis::OperandRows* const table = multiplied(i)) ++m_readers[{table->value, table->rows}];
        else if (const analysis::OperandRows* const source = picked(i)) ++m_readers[{source->value, source->rows}];
        else if (reshapesRows(i)) m_reshapes[{operands(i)[0].value, step(i).rows}].push_back(i);
    }
    for (const StripRegion& r : fuser.regions())
        for (const int i : r.steps)
            for (const analysis::OperandRows& o : operands(i))
                if (o.use == Use::Source && o.rows.kind == RowKind::Frontier) {
                    ++m_readers[{o.value, o.rows}];
                    m_inStrips.insert({o.value, o.rows});
                }
    std::set<Held> tables;
    for (const auto& [held, count] : m_readers) tables.insert(held);
    for (const auto& [held, steps] : m_reshapes) tables.insert(held);
    for (const Held& held : tables)
        if (isTable(held, given) && onlyReadInPlace(held)) take(held, held.first);
}

bool TablesInPlace::isTable(const Held& held, const Given& given) const
{
    const ir::ValueId value = held.first;
    const bool there = given.stored.contains(value) || m_analysis.available(value);
    return held.second.kind == RowKind::Frontier && !m_computed.contains(held) && there &&
           given.suitable(value, readInStrips(held)) && !isRecipe(m_analysis, value);
}

// Whether strips read its rows, directly or reshaped.
bool TablesInPlace::readInStrips(const Held& held) const
{
    if (m_inStrips.contains(held)) return true;
    return std::ranges::any_of(reshapesOf(held), [this](int at) { return readInStrips(reshaped(at)); });
}

// Whether the repeat is a copy, as in a PNA with a single tower.
bool TablesInPlace::repeatsOnce(const ir::Op& op) const
{
    const ir::Arg* const counts = op.name == "aten::repeat" ? ir::argument(op, "repeats") : nullptr;
    return counts && counts->list() &&
           std::ranges::all_of(*counts->list(),
                               [](const ir::Arg& count) { return count.integer() && *count.integer() == 1; }) &&
           m_analysis.program.value(op.outputs[0]).shape.size() == counts->list()->size();
}

// Rows stay rows, and their elements follow each other.
bool TablesInPlace::reshapesRows(int at) const
{
    const ir::Op& op = m_analysis.program.op(step(at).op);
    if (!m_gathers || step(at).rows.kind != RowKind::Frontier || op.outputs.size() != 1) return false;
    if (!operators::reshapes(op.name) && !repeatsOnce(op)) return false;
    const auto& from = operands(at);
    return m_analysis.info(op.id).kind == OpKind::Rowwise && from.size() == 1 && from[0].rows == step(at).rows &&
           m_analysis.rowDim(op.outputs[0]) == 0 &&
           m_analysis.program.value(op.outputs[0]).dtype == m_analysis.program.value(from[0].value).dtype;
}

bool TablesInPlace::onlyReadInPlace(const Held& held) const
{
    const auto readers = m_readers.find(held);
    int count = readers == m_readers.end() ? 0 : readers->second;
    for (const int at : reshapesOf(held)) count += onlyReadInPlace(reshaped(at)) ? 1 : 0;
    return count > 0 && count == m_fuser.useCount(held.first, held.second);
}

void TablesInPlace::take(const Held& held, ir::ValueId table)
{
    m_tables[held.first] = table;
    for (const int at : reshapesOf(held)) {
        m_needless.insert(at);
        take(reshaped(at), table);
    }
}

std::vector<int> TablesInPlace::reshapesOf(const Held& held) const
{
    const auto found = m_reshapes.find(held);
    return found == m_reshapes.end() ? std::vector<int>() : found->second;
}

TablesInPlace::Held TablesInPlace::reshaped(int at) const
{
    return {m_analysis.program.op(step(at).op).outputs[0], step(at).rows};
}

const analysis::OperandRows* TablesInPlace::picked(int at) const
{
    if (!m_gathers || m_fuser.vanished(at) || m_fuser.at(at) || !m_fuser.gathersRows(at)) return nullptr;
    for (const analysis::OperandRows& o : operands(at))
        if (o.use == Use::Source && o.rows.kind == RowKind::Frontier) return &o;
    return nullptr;
}

const analysis::OperandRows* TablesInPlace::multiplied(int at) const
{
    const auto table = std::ranges::find(operands(at), Use::SparseSource, &analysis::OperandRows::use);
    return table != operands(at).end() && table->rows.kind == RowKind::Frontier ? &*table : nullptr;
}

bool isRecipe(const analysis::Analysis& analysis, ir::ValueId id)
{
    const ir::Value& value = analysis.program.value(id);
    if (!analysis.available(id) || value.origin != ir::Origin::Op) return false;
    const ir::Op& op = analysis.program.op(value.producer);
    const bool byRow = analysis.info(op.id).kind == OpKind::Rowwise && analysis.info(op.id).prologueReason.empty();
    if (!byRow || op.outputs.size() != 1) return false;
    if (analysis.info(id).uniform) return true;
    const bool shaped = operators::reshapes(op.name) || operators::expands(op.name);
    const ir::SpaceId rows = shaped ? analysis.rowSpace(*op.args.at(0).value()) : ir::SpaceId{};
    return rows.valid() && analysis.tables.space(rows).kind != analysis::SpaceKind::Opaque;
}

}  // namespace hopscope::executor
