#include "executor/batch/batch_residents.h"

#include <algorithm>

namespace hopscope::executor {

using ir::RowClass;
using ir::RowKind;

at::Tensor BatchResidents::table(ir::ValueId value)
{
    return shaped(value, m_session.residents.table(m_program.tableOf(value)));
}

DividedTable BatchResidents::source(ir::ValueId value)
{
    const ir::ValueId base = m_program.tableOf(value);
    if (!m_session.choice.divides(base)) return {.cached = table(value), .places = {}, .host = {}};
    DividedTable divided = m_session.residents.divided(base);
    divided.cached = shaped(value, divided.cached);
    if (divided.host.defined()) divided.host = shaped(value, divided.host);
    return divided;
}

void BatchResidents::giveSource(ir::ValueId value, SegmentInputs& in)
{
    DividedTable table = source(value);
    in.source = std::move(table.cached);
    in.places = std::move(table.places);
    in.host = std::move(table.host);
}

void BatchResidents::giveSource(ir::ValueId value, StripInputs& in, std::size_t table)
{
    in.divided.resize(in.tables.size());
    in.divided[table] = source(value);
    in.tables[table] = in.divided[table].cached;
}

at::Tensor BatchResidents::picked(const Instruction& pick, at::Tensor rows)
{
    if (!rows.defined()) rows = columns(pick.rows, pick.space, pick.key);
    if (m_session.standIn) rows.zero_();
    const DividedTable table = source(pick.value);
    return m_session.choice.divides(m_program.tableOf(pick.value)) ? pickDivided(table, rows, m_session)
                                                                   : table.cached.index_select(0, rows);
}

at::Tensor BatchResidents::shaped(ir::ValueId value, const at::Tensor& table)
{
    if (m_program.tableOf(value) == value) return table;
    std::vector<std::int64_t> shape = shapeOf(m_session.analysis, value, m_session.structure.sizes());
    shape[0] = table.size(0);
    return table.view(shape);
}

at::Tensor BatchResidents::rows(const Instruction& read)
{
    const Destinations& batch = m_block.destinations();
    if (read.rows.kind == RowKind::Batch)
        return m_session.residents.table(read.value).narrow(0, batch.first, batch.count);
    return m_session.residents.part({.kind = ResidentPart::Owned, .value = read.value, .rows = read.rows})
        .narrow(0, firstOf(read.rows), m_block.count(read.rows));
}

// The first position of the batch in the adjacency that owns the rows.
std::int64_t BatchResidents::firstOf(const RowClass& rows)
{
    const Destinations& batch = m_block.destinations();
    return batch.count ? m_session.structure.adjacency(rows.table, rows.key).begin(batch.first) : 0;
}

const at::Tensor& BatchResidents::allColumns(const RowClass& rows, ir::SpaceId space, ir::KeyId key)
{
    return m_session.residents.part(
        {.kind = ResidentPart::Columns, .value = {}, .rows = rows, .space = space, .key = key});
}

at::Tensor BatchResidents::columns(const RowClass& rows, ir::SpaceId space, ir::KeyId key)
{
    return allColumns(rows, space, key).narrow(0, firstOf(rows), m_block.count(rows));
}

at::Tensor BatchResidents::offsets(const RowClass& rows)
{
    const Destinations& batch = m_block.destinations();
    return m_session.residents.part({.kind = ResidentPart::Offsets, .value = {}, .rows = rows})
        .narrow(0, batch.first, batch.count + 1);
}

// Gathered rows are found by the columns of the whole adjacency; other messages are those of the batch alone.
void BatchResidents::give(const Segment& s, SegmentInputs& in)
{
    in.offsets = offsets(s.messages);
    in.first = firstOf(s.messages);
    in.count = m_block.count(s.messages);
    if (s.from < 0) in.columns = allColumns(s.messages, s.columnSpace, s.columnKey);
    else in.columnFirst = in.first;
    givePieces(s.messages, in);
}

void BatchResidents::give(const StripPart& part, StripInputs& in)
{
    in.offsets = offsets(part.messages);
    in.first = firstOf(part.messages);
    for (std::size_t t = 0; t < part.tables.size(); ++t)
        if (const Segment& place = part.tables[t].place; part.tables[t].inPlace())
            in.columns[t] = columns(part.messages, place.columnSpace, place.columnKey);
    givePieces(part.messages, in);
}

template <class Inputs>
void BatchResidents::givePieces(const RowClass& rows, Inputs& in)
{
    const Destinations& batch = m_block.destinations();
    const std::vector<kernels::HubPiece>& all = m_session.structure.hubPieces(rows.table, rows.key);
    const auto before = [&](std::int64_t destination) {
        return std::ranges::lower_bound(all, destination, {}, &kernels::HubPiece::destination) - all.begin();
    };
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(kernels::HubPiece));
    const std::int64_t first = before(batch.first), count = before(batch.first + batch.count) - first;
    in.pieces = at::Tensor();
    in.pieceFirst = batch.first;
    if (count > 0)
        in.pieces = m_session.residents.part({.kind = ResidentPart::Pieces, .value = {}, .rows = rows})
                        .narrow(0, first * bytes, count * bytes);
}

}  // namespace hopscope::executor
