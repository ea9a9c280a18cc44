#include "executor/batch/feed.h"

#include <algorithm>
#include <cstring>

#include "analysis/rows/classes.h"
#include "executor/device/staging.h"
#include "executor/rows/row_numbers.h"
#include "loader/tensors.h"

namespace hopscope::executor {

using ir::RowClass;

namespace {

// Pieces take 24 bytes each; a hub has one for each kPiece positions and one for the rest.
std::int64_t mostPieceBytes(std::int64_t positions)
{
    const std::int64_t most = positions > kernels::kPiece ? 2 * (positions / kernels::kPiece) + 1 : 0;
    return most * static_cast<std::int64_t>(sizeof(kernels::HubPiece));
}

HostRows bytesOf(std::vector<kernels::HubPiece> pieces)
{
    const auto bytes = static_cast<std::int64_t>(pieces.size() * sizeof(kernels::HubPiece));
    return {.shape = {bytes},
            .dtype = at::kByte,
            .count = std::ssize(pieces),
            .write = [all = std::move(pieces)](std::int64_t first, std::int64_t end, std::byte* to) {
                std::memcpy(to, all.data() + first, static_cast<std::size_t>(end - first) * sizeof(kernels::HubPiece));
            }};
}

RowBuffer into(std::byte* to)
{
    return [to](at::IntArrayRef shape, at::ScalarType dtype) {
        return at::from_blob(to, shape, at::TensorOptions().dtype(dtype));
    };
}

HostRows copyOf(const at::Tensor& rows)
{
    return {.shape = rows.sizes().vec(),
            .dtype = rows.scalar_type(),
            .count = rows.size(0),
            .write = [rows](std::int64_t first, std::int64_t end, std::byte* to) {
                const at::Tensor part = rows.narrow(0, first, end - first);
                into(to)(part.sizes(), part.scalar_type()).copy_(part);
            }};
}

HostRows pickedRows(const at::Tensor& table, std::int64_t dim, const at::Tensor& rows)
{
    std::vector<std::int64_t> shape = table.sizes().vec();
    shape[static_cast<std::size_t>(dim)] = rows.numel();
    return {.shape = std::move(shape),
            .dtype = table.scalar_type(),
            .count = dim == 0 ? rows.numel() : 1,
            .write = [=](std::int64_t first, std::int64_t end, std::byte* to) {
                pickRows(table, dim, dim == 0 ? rows.narrow(0, first, end - first) : rows, into(to));
            }};
}

HostRows narrowedRows(const at::Tensor& numbers, std::int64_t most)
{
    return {.shape = {numbers.numel()},
            .dtype = numberType(most),
            .count = numbers.numel(),
            .write = [=](std::int64_t first, std::int64_t end, std::byte* to) {
                executor::narrowed(numbers.narrow(0, first, end - first), most, into(to));
            }};
}

}  // namespace

void Feed::clear()
{
    m_times = {};
    m_offsets.clear();
    m_pieces.clear();
    m_columns.clear();
    m_readBytes = m_structureBytes = 0;
}

// ---- for one instruction

Given Feed::give(const Instruction& i)
{
    switch (i.act) {
    case Act::Read: return {.rows = read(i), .offsets = {}, .pieces = {}};
    case Act::Positions:
    case Act::Select:
    case Act::Concat: return {.rows = numbers(i), .offsets = {}, .pieces = {}};
    case Act::Pick: return {.rows = picked(i), .offsets = {}, .pieces = {}};
    case Act::Segment: return along(i.segment);
    default: return {};
    }
}

const at::Tensor* Feed::inWindow(ir::ValueId value)
{
    return m_window ? m_window->table(m_program.tableOf(value)) : nullptr;
}

at::Tensor Feed::inPlace(ir::ValueId value)
{
    const at::Tensor* const kept = inWindow(value);
    if (!kept) return m_session.table(value, m_program).rows;
    std::vector<std::int64_t> shape = shapeOf(m_session.analysis, value, m_session.structure.sizes());
    shape[0] = kept->size(0);
    return kept->view(shape);
}

Given Feed::along(const Segment& s)
{
    if (s.from < 0 && inWindow(s.source)) {
        Given given{.rows = {}, .offsets = {}, .pieces = {}};
        given.offsets = timed(Phase::Block, [&] { return m_block.offsets(s.messages); });
        given.rows = numbered(s.source, s.messages, s.columnSpace, s.columnKey);
        return given;
    }
    if (m_program.tiling && s.from < 0)
        if (auto slice = timed(Phase::Block, [&] {
                return m_block.slice(s.messages, s.columnSpace, s.columnKey, m_session.numbers(s.source, m_program));
            }))
            return {.rows = slice->columns,
                    .offsets = slice->offsets,
                    .pieces = {},
                    .first = slice->first,
                    .count = slice->count};
    Given given;
    given.offsets = timed(Phase::Block, [&] { return m_block.offsets(s.messages); });
    if (s.from >= 0) return given;
    given.rows = columns(s);
    if (!m_program.tiling) countInPlace(s);
    return given;
}

// Each row of the frontier is counted once, however often it is read.
void Feed::countInPlace(const Segment& s)
{
    const at::Tensor table = m_session.table(s.source).rows;
    const std::int64_t frontier = timed(Phase::Block, [&] { return m_block.count(s.sourceRows); });
    countRead(s.source, frontier * table.stride(0) * static_cast<std::int64_t>(table.element_size()));
}

// The rows that a key refers to, as they are numbered in what inPlace() gives.
at::Tensor Feed::numbered(ir::ValueId value, const RowClass& on, ir::SpaceId space, ir::KeyId key)
{
    return timed(Phase::Block, [&] {
        const Numbers numbers = m_session.numbers(value, m_program);
        const auto slice = m_block.slice(on, space, key, numbers);
        const at::Tensor rows =
            slice ? slice->columns.narrow(0, slice->first, slice->count) : m_block.globals(on, space, key, numbers);
        return inWindow(value) ? m_window->places(m_program.tableOf(value), rows) : rows;
    });
}

at::Tensor Feed::picked(const Instruction& i)
{
    const at::Tensor rows = numbered(i.value, i.rows, i.space, i.key);
    at::Tensor picked = timed(Phase::Gather, [&] { return pickRows(inPlace(i.value), 0, rows, pageable); });
    return computed(i.value, std::move(picked));
}

at::Tensor Feed::numbers(const Instruction& i)
{
    return timed(Phase::Block, [&]() -> at::Tensor {
        switch (i.act) {
        case Act::Positions: return m_block.positions(i.rows, i.space, i.key, i.in);
        case Act::Select: return m_block.parentPositions(i.rows, i.operands.at(0).rows);
        case Act::Concat: {
            std::vector<RowClass> parts;
            for (const Operand& o : i.operands) parts.push_back(o.rows);
            return m_block.concatPositions(i.rows, parts);
        }
        default: return {};
        }
    });
}

at::Tensor Feed::columns(const Segment& s)
{
    return columns(s.messages, s.columnSpace, s.columnKey, m_session.numbers(s.source, m_program));
}

at::Tensor Feed::columns(const RowClass& on, ir::SpaceId space, ir::KeyId key, Numbers numbers)
{
    return timed(Phase::Block, [&] { return m_block.globals(on, space, key, numbers); });
}

// Converts rows that are stored in a narrower type.
at::Tensor Feed::computed(ir::ValueId value, at::Tensor rows)
{
    const at::ScalarType type = loader::scalarType(m_session.analysis.program.value(value).dtype);
    if (rows.scalar_type() == type) return rows;
    return timed(Phase::Gather, [&] { return rows.to(type); });
}

at::Tensor Feed::read(const Instruction& i)
{
    at::Tensor rows = rowsOf(i);
    countRead(i.value, rows);
    return computed(i.value, std::move(rows));
}

at::Tensor Feed::staged(const Instruction& i, const RowSink& sink)
{
    at::Tensor rows = sink(hostRows(i));
    countRead(i.value, rows);
    return rows;
}

// Consecutive destinations have consecutive rows.
at::Tensor Feed::inOrder(const Instruction& i)
{
    const at::Tensor all = m_session.ownedValue(i.value, i.rows);
    const graph::Adjacency& order = m_session.structure.adjacency(i.rows.table, i.rows.key);
    const Destinations& batch = m_block.destinations();
    if (batch.ascending()) return all.narrow(0, batch.count ? order.begin(batch.first) : 0, m_block.count(i.rows));
    std::vector<at::Tensor> each{all.narrow(0, 0, 0)};
    for (std::int64_t k = 0; k < batch.count; ++k)
        each.push_back(all.narrow(0, order.begin(batch[k]), order.end(batch[k]) - order.begin(batch[k])));
    return at::cat(each);
}

at::Tensor Feed::rowsOf(const Instruction& i)
{
    if (i.inOrder) return timed(Phase::Gather, [&] { return inOrder(i); });
    const Destinations& batch = m_block.destinations();
    const bool ranged = follow(i.value, i.rows);
    if (ranged && m_window) {
        const at::Tensor own = timed(Phase::Gather, [&] { return m_window->own(i.value, batch); });
        if (own.defined()) return own;
    }
    const at::Tensor table = m_session.table(i.value).rows;
    const std::int64_t dim = m_session.analysis.rowDim(i.value);
    if (ranged) return table.narrow(dim, batch.first, batch.count);
    const at::Tensor rows = timed(Phase::Block, [&] { return rowNumbers(i.value, i.rows); });
    return timed(Phase::Gather, [&] { return pickRows(table, dim, rows, pageable); });
}

HostRows Feed::hostRows(const Instruction& i)
{
    if (i.inOrder) return copyOf(timed(Phase::Gather, [&] { return inOrder(i); }));
    const bool pinned = m_session.choice.divides(i.value) && !m_session.standIn;
    const at::Tensor table = pinned ? m_session.residents.pinnedRows(i.value) : m_session.table(i.value).rows;
    const std::int64_t dim = m_session.analysis.rowDim(i.value);
    const Destinations& batch = m_block.destinations();
    if (follow(i.value, i.rows)) return copyOf(table.narrow(dim, batch.first, batch.count));
    return pickedRows(table, dim, timed(Phase::Block, [&] { return rowNumbers(i.value, i.rows); }));
}

void Feed::countRead(ir::ValueId value, const at::Tensor& rows)
{
    countRead(value, rows.numel() * static_cast<std::int64_t>(rows.element_size()));
}

void Feed::countRead(ir::ValueId value, std::int64_t bytes)
{
    if (m_session.analysis.info(value).structureOnly) m_structureBytes += bytes;
    else m_readBytes += bytes;
}

bool Feed::follow(ir::ValueId value, const RowClass& rows) const
{
    return m_block.isRange(rows, m_session.numbers(value));
}

at::Tensor Feed::rowNumbers(ir::ValueId value, const RowClass& rows)
{
    const bool places = m_session.numbers(value) == Numbers::Places;
    require(!places || analysis::tableOf(rows) == m_session.analysis.rowSpace(value),
            "rows of a value are numbered as those of another table");
    return places ? m_block.places(rows) : m_block.rows(rows);
}

// ---- for all instructions at once

std::vector<Given> Feed::stage(const RowSink& sink)
{
    std::vector<Given> given;
    for (const Instruction& i : m_program.instructions) {
        m_session.checkStop();
        given.push_back(stagedFor(i, sink));
    }
    for (const Written& w : m_program.writes) {
        if (follow(w.value, w.rows)) continue;
        const at::Tensor rows = timed(Phase::Block, [&] { return rowNumbers(w.value, w.rows); });
        if (m_session.choice.holds(w.value))
            given.push_back({.rows = sink(narrowedRows(rows, mostOf(w))), .offsets = {}, .pieces = {}});
    }
    return given;
}

void Feed::write(const HostRows& rows, std::int64_t first, std::int64_t end, std::byte* to)
{
    timed(Phase::Gather, [&] {
        rows.write(first, end, to);
        return end;
    });
}

bool Feed::skips(const Instruction& i) const { return readsRange(i) && !m_session.standIn; }

// Whether the device has the data, and they are consecutive there.
bool Feed::readsRange(const Instruction& i) const
{
    if (!m_block.destinations().ascending() || !m_session.choice.skips(i)) return false;
    return i.act != Act::Read || i.rows.kind != ir::RowKind::Batch || follow(i.value, i.rows);
}

// Edge tables on the device are in a different order. In a dry run, rows that need no picking are copied.
bool Feed::picksThere(const Instruction& i) const
{
    if (i.act != Act::Read || !m_session.choice.holds(i.value)) return false;
    return !m_session.choice.inOrder(i) && !readsRange(i);
}

Given Feed::stagedFor(const Instruction& i, const RowSink& sink)
{
    switch (i.act) {
    case Act::Read:
        if (skips(i)) return {};
        if (picksThere(i))
            return {.rows = sink(narrowedRows(timed(Phase::Block, [&] { return m_block.rows(i.rows); }), mostOf(i))),
                    .offsets = {},
                    .pieces = {}};
        return {.rows = staged(i, sink), .offsets = {}, .pieces = {}};
    case Act::Positions:
        if (i.owners)
            return skips(i) ? Given{} : Given{.rows = {}, .offsets = stagedOffsets(i.rows, sink), .pieces = {}};
        [[fallthrough]];
    case Act::Select:
    case Act::Concat: return {.rows = sink(narrowedRows(numbers(i), mostOf(i))), .offsets = {}, .pieces = {}};
    case Act::Pick:
        if (skips(i)) return {};
        return {.rows = sink(narrowedRows(columns(i.rows, i.space, i.key, Numbers::Input), mostOf(i))),
                .offsets = {},
                .pieces = {}};
    case Act::Segment: return stagedSegment(i, sink);
    case Act::Strips: return stagedStrips(i, sink);
    default: return {};
    }
}

Given Feed::stagedSegment(const Instruction& i, const RowSink& sink)
{
    if (skips(i)) return {};
    const RowClass& messages = i.segment.messages;
    Given given{.rows = {}, .offsets = stagedOffsets(messages, sink), .pieces = stagedPieces(messages, sink)};
    if (i.segment.from < 0) given.rows = sink(narrowedRows(columns(i.segment), mostOf(i)));
    return given;
}

Given Feed::stagedStrips(const Instruction& i, const RowSink& sink)
{
    if (skips(i)) return {};
    const RowClass& messages = i.strips->messages;
    Given given{.rows = {}, .offsets = stagedOffsets(messages, sink), .pieces = stagedPieces(messages, sink)};
    for (const StripTableSource& t : i.strips->tables)
        given.columns.push_back(t.inPlace() ? stagedColumns(t.place, sink) : at::Tensor());
    return given;
}

at::Tensor Feed::stagedColumns(const Segment& s, const RowSink& sink)
{
    at::Tensor& staged = m_columns[{s.messages, s.columnSpace, s.columnKey}];
    if (!staged.defined()) staged = sink(narrowedRows(columns(s), mostOf(s)));
    return staged;
}

at::Tensor Feed::stagedOffsets(const RowClass& rows, const RowSink& sink)
{
    at::Tensor& staged = m_offsets[rows];
    if (!staged.defined())
        staged = sink(narrowedRows(timed(Phase::Block, [&] { return m_block.offsets(rows); }), m_block.count(rows)));
    return staged;
}

at::Tensor Feed::stagedPieces(const RowClass& rows, const RowSink& sink)
{
    const auto [known, fresh] = m_pieces.try_emplace(rows);
    if (!fresh) return known->second;
    const at::Tensor offsets = timed(Phase::Block, [&] { return m_block.offsets(rows); });
    auto pieces = kernels::hubPieces(offsets.const_data_ptr<std::int64_t>(), offsets.numel() - 1);
    return known->second = pieces.empty() ? at::Tensor() : sink(bytesOf(std::move(pieces)));
}

// The greatest row number that an instruction may be given, for which its copy has room.
std::int64_t Feed::mostOf(const Instruction& i)
{
    switch (i.act) {
    case Act::Read: return m_session.structure.size(analysis::tableOf(i.rows));
    case Act::Positions: return m_block.count(i.in);
    case Act::Pick: return m_session.structure.size(m_session.analysis.tables.target(i.space, i.key));
    case Act::Segment: return mostOf(i.segment);
    default: break;
    }
    std::int64_t sum = 0;
    for (const Operand& o : i.operands) sum += m_block.count(o.rows);
    return sum;
}

std::int64_t Feed::mostOf(const Segment& s)
{
    return m_session.structure.size(m_session.analysis.tables.target(s.columnSpace, s.columnKey));
}

std::int64_t Feed::mostOf(const Written& w) { return m_session.structure.size(m_session.analysis.rowSpace(w.value)); }

std::int64_t Feed::stagingBytes()
{
    return timed(Phase::Block, [this] {
        std::int64_t bytes = 0;
        Counted counted;
        for (const Instruction& i : m_program.instructions) {
            m_session.checkStop();
            if (!skips(i)) bytes += stagingBytes(i, counted);
        }
        for (const Written& w : m_program.writes)
            if (m_session.choice.holds(w.value) && !follow(w.value, w.rows))
                bytes += StagingChunk::rounded(m_block.count(w.rows) * numberBytes(mostOf(w)));
        return bytes;
    });
}

std::int64_t Feed::stagingBytes(const Instruction& i, Counted& counted)
{
    const auto bytes = [&](const RowClass& rows, std::int64_t each) {
        return StagingChunk::rounded(m_block.count(rows) * each);
    };
    switch (i.act) {
    case Act::Read: return bytes(i.rows, picksThere(i) ? numberBytes(mostOf(i)) : rowBytesOf(i));
    case Act::Positions:
        if (i.owners) return offsetBytes(i.rows, counted);
        [[fallthrough]];
    case Act::Select:
    case Act::Pick:
    case Act::Concat: return bytes(i.rows, numberBytes(mostOf(i)));
    case Act::Segment: {
        const RowClass& messages = i.segment.messages;
        const std::int64_t columns = i.segment.from < 0 ? bytes(messages, numberBytes(mostOf(i))) : 0;
        return columns + offsetBytes(messages, counted) + pieceBytes(messages, counted);
    }
    case Act::Strips: return stagingBytes(*i.strips, counted);
    default: return 0;
    }
}

std::int64_t Feed::stagingBytes(const StripPart& part, Counted& counted)
{
    std::int64_t bytes = offsetBytes(part.messages, counted) + pieceBytes(part.messages, counted);
    for (const StripTableSource& t : part.tables) {
        const Segment& s = t.place;
        if (!t.inPlace() || !counted.columns.insert({s.messages, s.columnSpace, s.columnKey}).second) continue;
        bytes += StagingChunk::rounded(m_block.count(s.messages) * numberBytes(mostOf(s)));
    }
    return bytes;
}

std::int64_t Feed::offsetBytes(const RowClass& rows, Counted& counted)
{
    if (!counted.offsets.insert(rows).second) return 0;
    return StagingChunk::rounded((m_block.destinations().count + 1) * numberBytes(m_block.count(rows)));
}

std::int64_t Feed::pieceBytes(const RowClass& rows, Counted& counted)
{
    if (!counted.pieces.insert(rows).second) return 0;
    return StagingChunk::rounded(mostPieceBytes(m_block.count(rows)));
}

// A value that is read in the order of an adjacency exists as a whole in no other order.
std::int64_t Feed::rowBytesOf(const Instruction& i)
{
    if (i.inOrder) return rowBytes(m_session.analysis, i.value, m_session.structure.sizes());
    const at::Tensor table = m_session.table(i.value).rows;
    const std::int64_t rows = table.size(m_session.analysis.rowDim(i.value));
    return rows == 0 ? 0 : table.numel() / rows * static_cast<std::int64_t>(table.element_size());
}

}  // namespace hopscope::executor
