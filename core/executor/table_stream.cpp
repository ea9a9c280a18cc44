#include "executor/table_stream.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "base/proc.h"

namespace hopscope::executor {

using ir::RowKind;

namespace {

constexpr std::int64_t markedAtOnce = 64;        // tiles
constexpr std::int64_t markGrain = 1 << 14;      // row numbers
constexpr std::int64_t mostPiece = 1 << 20;      // bytes of destinations' own rows in a piece
constexpr std::int64_t mostPieces = 12;          // that are in memory
constexpr std::int64_t shareForOwn = 16;         // of the memory is at most theirs, together
constexpr std::int64_t shareForRest = 8;         // of the memory is left to tiles and to what is on its way to the disk
constexpr std::int64_t mostForRest = 256 << 20;  // bytes

template <class Number>
void markAll(const at::Tensor& rows, graph::RowSet& set)
{
    const Number* const row = rows.const_data_ptr<Number>();
    at::parallel_for(0, rows.numel(), markGrain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) set.add(row[i]);
    });
}

// Of the process's memory that no file backs.
std::int64_t leftByLimit(const Options& options)
{
    if (!options.memoryLimit) return std::numeric_limits<std::int64_t>::max();
    return std::max<std::int64_t>(*options.memoryLimit - base::anonymousMemory("self"), 0);
}

// Windows number rows as in the input.
bool readsByPlaces(const Session& session, const LoopProgram& program)
{
    return std::ranges::any_of(asksOf(program),
                               [&](const Ask& ask) { return session.numbers(ask.table) == Numbers::Places; });
}

std::int64_t rowBytesOf(const at::Tensor& table)
{
    return table.size(0) == 0 ? 0 : static_cast<std::int64_t>(table.nbytes()) / table.size(0);
}

}  // namespace

TableStream::TableStream(Session& session, const LoopProgram& program, std::int64_t memory)
    : m_session(session),
      m_program(program),
      m_memory(memory),
      m_forRows(std::min(memory, leftByLimit(session.options))),
      m_asks(asksOf(program))
{}

std::unique_ptr<TableStream> TableStream::of(Session& session, const LoopProgram& program)
{
    const bool inOrder = !session.structure.nodeAt(program.loop->destination) && !session.options.shuffleSeed;
    if (!program.tiling || !inOrder || session.others() || readsByPlaces(session, program)) return nullptr;
    const std::int64_t memory = session.options.tableMemory.value_or(base::availableMemory());
    std::unique_ptr<TableStream> made(new TableStream(session, program, memory));
    if (!made->exceedsMemory(made->tableBytes()) || !made->findTables()) return nullptr;
    if (!made->exceedsMemory(made->fileBytes())) return nullptr;
    for (const Written& w : program.writes) session.stores.at(w.value)->letGoBehind();
    return made;
}

// Those that are read by a key; those of which destinations read their own rows.
template <class Visit>
void TableStream::eachTable(Visit&& visit)
{
    for (const Ask& ask : m_asks) visit(ask.table, m_gathered);
    for (const Instruction& i : m_program.instructions)
        if (i.act == Act::Read && i.rows.kind == RowKind::Batch && !i.inOrder) visit(i.value, m_own);
}

// Of all tables, in files or not: cheap to know.
std::int64_t TableStream::tableBytes()
{
    std::set<ir::ValueId> tables;
    eachTable([&](ir::ValueId value, const auto&) { tables.insert(value); });
    std::int64_t bytes = 0;
    for (const ir::ValueId v : tables) bytes += static_cast<std::int64_t>(m_session.table(v).rows.nbytes());
    return bytes;
}

std::int64_t TableStream::fileBytes() const
{
    std::int64_t bytes = 0;
    for (const auto& [value, table] : m_files) bytes += static_cast<std::int64_t>(table.mapped.nbytes());
    return bytes;
}

// False if there is none.
bool TableStream::findTables()
{
    eachTable([this](ir::ValueId value, std::vector<ir::ValueId>& list) { includeFile(value, list); });
    return !m_files.empty();
}

void TableStream::includeFile(ir::ValueId value, std::vector<ir::ValueId>& list)
{
    if (std::ranges::find(list, value) != list.end()) return;
    if (!m_files.contains(value)) {
        const at::Tensor table = m_session.table(value).rows;
        if (m_session.analysis.rowDim(value) != 0 || !table.is_contiguous() || table.numel() == 0) return;
        const auto place = graph::fileBehind(table.const_data_ptr());
        if (!place) return;
        m_files.emplace(value, FileTable{.value = value,
                                         .mapped = table,
                                         .file = unwrap(graph::DirectFile::open(place->path)),
                                         .offset = place->offset,
                                         .rowBytes = rowBytesOf(table)});
    }
    list.push_back(value);
}

// With what the loop writes.
bool TableStream::exceedsMemory(std::int64_t tables) const
{
    const std::int64_t bytes = tables + writtenRowBytes() * m_session.structure.size(m_program.loop->destination);
    return bytes > m_memory - m_memory / shareForRest;
}

std::int64_t TableStream::writtenRowBytes() const
{
    std::int64_t bytes = 0;
    for (const Written& w : m_program.writes) bytes += m_session.stores.at(w.value)->rowBytes();
    return bytes;
}

std::int64_t TableStream::ownRowBytes() const
{
    std::int64_t bytes = 0;
    for (const ir::ValueId v : m_own) bytes += m_files.at(v).rowBytes;
    return bytes;
}

// Whole tiles.
std::int64_t TableStream::pieceRows() const
{
    const std::int64_t tile = m_program.tiling->rows;
    const std::int64_t most = std::min(mostPiece, m_forRows / shareForOwn / mostPieces);
    return tile * std::max<std::int64_t>(most / std::max<std::int64_t>(ownRowBytes() * tile, 1), 1);
}

// In memory, as long as tiles have to be read ahead of.
int TableStream::pieces() const
{
    const std::int64_t each = std::max<std::int64_t>(ownRowBytes() * pieceRows(), 1);
    return static_cast<int>(std::clamp<std::int64_t>(m_forRows / shareForOwn / each, 2, mostPieces));
}

std::int64_t TableStream::bytes(Sets& sets) const
{
    std::int64_t sum = 0;
    for (auto& [space, set] : sets) set.number();
    for (const ir::ValueId v : m_gathered) sum += sets.at(spaceOf(v)).count() * m_files.at(v).rowBytes;
    return sum;
}

Window TableStream::next(const Destinations& left)
{
    Sets sets;
    for (const ir::ValueId v : m_gathered) sets.try_emplace(spaceOf(v), m_session.structure.size(spaceOf(v)));
    Window window(choose(left, sets));
    const Destinations ahead = withOwnRows(window.range(), sets);
    load(window, std::move(sets));
    std::vector<const FileTable*> own;
    for (const ir::ValueId v : m_own) own.push_back(&m_files.at(v));
    if (!own.empty()) window.readAhead(std::make_unique<ReadAhead>(std::move(own), ahead, pieceRows(), pieces()));
    ++m_windows;
    return window;
}

Destinations TableStream::choose(const Destinations& left, Sets& sets)
{
    const std::int64_t tile = m_program.tiling->rows, end = left.first + left.count;
    Destinations range{left.first, 0};
    for (std::int64_t step = markedAtOnce; range.count < left.count && step > 0;) {
        m_session.checkStop();
        const std::int64_t at = range.first + range.count;
        const std::int64_t next = std::min((at / tile + step) * tile, end);
        const Sets before = sets;
        mark({at, next - at}, sets);
        const bool fits = bytes(sets) <= room() || (range.count == 0 && step == 1);
        if (fits) range.count = next - range.first;
        else sets = before;
        if (!fits) step /= 2;
    }
    (void)bytes(sets);
    return range;
}

// The pass that brings in what is asked for reads over the other rows, too: destinations at the end of the window that have
// room keep theirs. Those whose rows are left to be read ahead.
Destinations TableStream::withOwnRows(const Destinations& window, Sets& sets)
{
    const std::int64_t tile = m_program.tiling->rows, end = window.first + window.count;
    if (!std::ranges::all_of(m_own, [&](ir::ValueId v) { return keeps(v); })) return window;
    std::int64_t first = end;
    for (std::int64_t step = markedAtOnce; first > window.first && step > 0;) {
        const std::int64_t before = std::max((first - 1) / tile - step + 1, std::int64_t{0}) * tile;
        const std::int64_t next = std::max(before, window.first);
        const Sets saved = sets;
        for (const ir::ValueId v : m_own)
            for (std::int64_t row = next; row < first; ++row) sets.at(spaceOf(v)).add(row);
        const bool fits = bytes(sets) <= room();
        if (fits) first = next;
        else sets = saved;
        if (!fits) step /= 2;
    }
    (void)bytes(sets);
    return {window.first, first - window.first};
}

// Bytes for rows that are asked for.
std::int64_t TableStream::room() const
{
    return m_forRows - std::min(m_forRows / shareForRest, mostForRest) - ownRowBytes() * pieceRows() * pieces();
}

void TableStream::mark(const Destinations& destinations, Sets& sets)
{
    Block block(m_session.structure, m_session.analysis, *m_program.loop);
    block.begin(destinations);
    for (const Ask& ask : m_asks) {
        if (!m_files.contains(ask.table)) continue;
        graph::RowSet& set = sets.at(spaceOf(ask.table));
        const auto slice = block.slice(ask.on, ask.space, ask.key);
        const at::Tensor rows =
            slice ? slice->columns.narrow(0, slice->first, slice->count) : block.globals(ask.on, ask.space, ask.key);
        if (rows.scalar_type() == at::kInt) markAll<std::int32_t>(rows, set);
        else markAll<std::int64_t>(rows, set);
    }
}

// A single tile may ask for more than there is room for.
KeptRows& TableStream::keptRows(ir::ValueId table, std::int64_t count)
{
    const FileTable& file = m_files.at(table);
    const std::int64_t wanted = count * file.rowBytes, most = static_cast<std::int64_t>(file.mapped.nbytes());
    const auto known = m_kept.find(table);
    if (known != m_kept.end() && known->second.size() >= wanted) return known->second;
    m_kept.erase(table);
    return m_kept.try_emplace(table, std::max(wanted, std::min(room(), most))).first->second;
}

void TableStream::load(Window& window, Sets&& sets)
{
    std::map<ir::SpaceId, std::shared_ptr<const graph::RowSet>> shared;
    for (auto& [space, set] : std::exchange(sets, {}))
        shared[space] = std::make_shared<const graph::RowSet>(std::move(set));
    for (const ir::ValueId v : m_gathered) {
        const auto& rows = shared.at(spaceOf(v));
        window.add(v, rows, keptRows(v, rows->count()).change(m_files.at(v), rows, m_read, m_session.stop));
    }
    m_session.checkStop();
}

}  // namespace hopscope::executor
