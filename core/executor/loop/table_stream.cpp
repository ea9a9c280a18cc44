#include "executor/loop/table_stream.h"

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
constexpr std::int64_t mostPieces = 12;          // that are in memory at most
constexpr std::int64_t shareForOwn = 16;         // of the memory may be theirs, together
constexpr std::int64_t shareForRest = 8;         // of the memory is left to tiles and to rows not flushed yet
constexpr std::int64_t mostForRest = 256 << 20;  // bytes

template <class Number>
void markAll(const at::Tensor& rows, graph::RowSet& set)
{
    const Number* const row = rows.const_data_ptr<Number>();
    at::parallel_for(0, rows.numel(), markGrain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) set.add(row[i]);
    });
}

// The part of the limit that is left by the process's memory without a file.
std::int64_t leftByLimit(const Options& options, std::int64_t handed)
{
    if (!options.memory) return std::numeric_limits<std::int64_t>::max();
    return std::max<std::int64_t>(*options.memory - base::anonymousMemory("self") + handed, 0);
}

std::int64_t bytesOf(const HandedOn& handed)
{
    std::int64_t sum = 0;
    for (const auto& [value, rows] : handed.rows) sum += rows->bytes();
    return sum;
}

std::map<ir::SpaceId, std::shared_ptr<const graph::RowSet>> shared(std::map<ir::SpaceId, graph::RowSet>&& sets)
{
    std::map<ir::SpaceId, std::shared_ptr<const graph::RowSet>> made;
    for (auto& [space, set] : std::exchange(sets, {})) {
        set.number();
        made[space] = std::make_shared<const graph::RowSet>(std::move(set));
    }
    return made;
}

}  // namespace

bool inOrder(const Session& session, const LoopProgram& program)
{
    if (session.structure.nodeAt(program.loop->destination) || session.options.shuffleSeed) return false;
    return std::ranges::none_of(asksOf(program),
                                [&](const Ask& ask) { return session.numbers(ask.table) == Numbers::Places; });
}

TableStream::TableStream(Session& session, const LoopProgram& program, const LoopProgram* next)
    : m_session(session),
      m_program(program),
      m_next(next),
      m_handed(std::exchange(session.handed, {})),
      m_memory(session.options.tableMemory.value_or(base::availableMemory() + bytesOf(m_handed))),
      m_forRows(std::min(m_memory, leftByLimit(session.options, bytesOf(m_handed))))
{}

std::unique_ptr<TableStream> TableStream::of(Session& session, const LoopProgram& program, const LoopProgram* next)
{
    if (!program.tiling || !inOrder(session, program) || session.others()) return nullptr;
    std::unique_ptr<TableStream> made(new TableStream(session, program, next));
    if (!made->exceedsMemory(made->tableBytes(program)) || !made->findTables()) return nullptr;
    if (!made->exceedsMemory(made->fileBytes())) return nullptr;
    made->takeOver();
    made->letGoOfInputs();
    for (const Written& w : program.writes) session.stores.at(w.value)->letGoBehind();
    return made;
}

TableStream::~TableStream()
{
    for (const auto& [value, rows] : m_leaving.rows) m_session.stores.at(value)->tell({});
}

// Drops the pages of inputs that the prologue or the loop before has read, which would only be in the way. Where the
// inputs fit into half of the memory, columns may be read where they lie.
void TableStream::letGoOfInputs()
{
    std::vector<at::Tensor> inputs;
    std::int64_t bytes = 0;
    for (const ir::NamedValue& in : m_session.analysis.program.inputs) {
        if (!m_session.structure.has(in.value)) continue;
        const at::Tensor& tensor = inputs.emplace_back(m_session.structure.value(in.value));
        bytes += static_cast<std::int64_t>(tensor.nbytes());
    }
    if (bytes <= m_memory / 2) return;
    for (const at::Tensor& tensor : inputs)
        if (tensor.is_contiguous()) graph::letGoOf(tensor.const_data_ptr(), static_cast<std::int64_t>(tensor.nbytes()));
}

// visit(table, whether its rows are read by a key; else destinations read their own).
template <class Visit>
void TableStream::eachTable(const LoopProgram& program, Visit&& visit)
{
    for (const Ask& ask : asksOf(program)) visit(ask.table, true);
    for (const Instruction& i : program.instructions)
        if (i.act == Act::Read && i.rows.kind == RowKind::Batch && !i.inOrder) visit(i.value, false);
}

// The bytes of all tables, in files or not: cheap to determine.
std::int64_t TableStream::tableBytes(const LoopProgram& program) const
{
    std::set<ir::ValueId> tables;
    eachTable(program, [&](ir::ValueId value, bool) { tables.insert(value); });
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

// Returns false if there is none.
bool TableStream::findTables()
{
    eachTable(m_program, [this](ir::ValueId value, bool gathered) { includeFile(value, gathered); });
    return !m_files.empty();
}

void TableStream::includeFile(ir::ValueId value, bool gathered)
{
    std::vector<ir::ValueId>& list = gathered ? m_gathered : m_own;
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
                                         .rowBytes = rowBytesIn(table)});
    }
    list.push_back(value);
}

void TableStream::takeOver()
{
    for (const auto& [value, rows] : std::exchange(m_handed.rows, {})) {
        if (!rows->complete() || !keeps(value)) continue;
        m_kept.emplace(value, rows->takeAsked());
        if (auto own = rows->takeOwn()) m_ownKept.emplace(value, std::move(*own));
    }
}

// Whether these bytes of tables and the rows that the loop writes exceed the memory.
bool TableStream::exceedsMemory(std::int64_t tables) const
{
    const std::int64_t bytes = tables + writtenRowBytes() * m_session.structure.size(m_program.loop->destination);
    return bytes > usable();
}

std::int64_t TableStream::usable() const { return m_memory - m_memory / shareForRest; }

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

// The destinations of a piece, which consists of whole tiles.
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

std::int64_t TableStream::bytes(const SharedSets& sets, const RowBytes& tables) const
{
    std::int64_t sum = 0;
    for (const auto& [v, rowBytes] : tables) sum += sets.at(spaceOf(v))->count() * rowBytes;
    return sum;
}

std::int64_t TableStream::bytes(Sets& sets, const RowBytes& tables) const
{
    std::int64_t sum = 0;
    for (auto& [space, set] : sets) set.number();
    for (const auto& [v, rowBytes] : tables) sum += sets.at(spaceOf(v)).count() * rowBytes;
    return sum;
}

std::unique_ptr<Window> TableStream::next(const Destinations& left)
{
    SharedSets sets;
    auto window = std::make_unique<Window>(choose(left, sets));
    const Destinations& range = window->range();
    const std::int64_t own = firstOwn(range, sets);
    load(*window, sets, own);
    std::vector<const FileTable*> kept, others;
    for (const ir::ValueId v : m_own) (keeps(v) ? kept : others).push_back(&m_files.at(v));
    const auto ahead = [&](std::vector<const FileTable*> tables, std::int64_t count) {
        if (tables.empty()) return;
        const Destinations destinations{range.first, count};
        window->readAhead(std::make_unique<ReadAhead>(std::move(tables), destinations, pieceRows(), pieces()));
    };
    ahead(std::move(kept), own - range.first);
    ahead(std::move(others), range.count);
    handOn(*window, sets, own);
    ++m_windows;
    return window;
}

void TableStream::finished(const Window& window)
{
    m_read += window.bytesAhead();
    for (const auto& [value, rows] : m_leaving.rows) rows->end();
    if (!m_leaving.rows.empty()) m_session.handed = m_leaving;
}

// Whether the rows that the first destinations request are known, and fit.
bool TableStream::knowsFirst(const Destinations& left) const
{
    if (left.first > 0 || m_windows > 0 || m_handed.destinations == 0 || m_handed.destinations > left.count)
        return false;
    const auto known = [&](ir::ValueId v) { return m_handed.asked.contains(spaceOf(v)); };
    return std::ranges::all_of(m_gathered, known) && bytes(m_handed.asked, gatheredRows()) <= room();
}

Destinations TableStream::choose(const Destinations& left, SharedSets& sets)
{
    if (knowsFirst(left)) {
        sets = m_handed.asked;
        return {0, m_handed.destinations};
    }
    if (m_windows == 0) {  // rows kept for another window would have to be moved apart
        m_kept.clear();
        m_ownKept.clear();
    }
    return choose(m_program, gatheredRows(), left, room(), sets);
}

// As many destinations as there is room for the rows that they request, but at least a tile.
Destinations TableStream::choose(const LoopProgram& program, const RowBytes& tables, const Destinations& left,
                                 std::int64_t room, SharedSets& sets) const
{
    const std::int64_t tile = program.tiling->rows, end = left.first + left.count;
    Sets asked;
    for (const auto& [v, rowBytes] : tables) asked.try_emplace(spaceOf(v), m_session.structure.size(spaceOf(v)));
    Destinations range{left.first, 0};
    for (std::int64_t step = markedAtOnce; range.count < left.count && step > 0;) {
        m_session.checkStop();
        const std::int64_t at = range.first + range.count;
        const std::int64_t next = std::min((at / tile + step) * tile, end);
        const Sets before = asked;
        mark(program, {at, next - at}, asked);
        const bool fits = bytes(asked, tables) <= room || (range.count == 0 && step == 1);
        if (fits) range.count = next - range.first;
        else asked = before;
        if (!fits) step /= 2;
    }
    sets = shared(std::move(asked));
    return range;
}

TableStream::RowBytes TableStream::gatheredRows() const
{
    RowBytes tables;
    for (const ir::ValueId v : m_gathered) tables[v] = m_files.at(v).rowBytes;
    return tables;
}

std::int64_t TableStream::firstThatFits(const Destinations& range,
                                        const std::function<bool(std::int64_t first)>& fits) const
{
    const std::int64_t tile = m_program.tiling->rows, end = range.first + range.count;
    std::int64_t first = range.first / tile, last = (end + tile - 1) / tile;
    while (first < last) {
        const std::int64_t middle = (first + last) / 2;
        if (fits(std::max(middle * tile, range.first))) last = middle;
        else first = middle + 1;
    }
    return std::clamp(first * tile, range.first, end);
}

// The pass that brings in the requested rows also reads over the others: destinations at the end of the window that
// have room keep theirs, from the result on. The own rows of the other destinations are read ahead.
std::int64_t TableStream::firstOwn(const Destinations& window, const SharedSets& sets) const
{
    const std::int64_t left = room() - bytes(sets, gatheredRows());
    return firstThatFits(window, [&](std::int64_t first) { return ownBytes(first, window, sets) <= left; });
}

// The bytes of own rows that no key refers to, of destinations from this one on.
std::int64_t TableStream::ownBytes(std::int64_t first, const Destinations& window, const SharedSets& sets) const
{
    const std::int64_t end = window.first + window.count;
    std::int64_t sum = 0;
    for (const ir::ValueId v : m_own)
        if (keeps(v)) sum += (end - first - sets.at(spaceOf(v))->countIn(first, end)) * m_files.at(v).rowBytes;
    return sum;
}

// Bytes for requested rows.
std::int64_t TableStream::room() const
{
    return m_forRows - std::min(m_forRows / shareForRest, mostForRest) - ownRowBytes() * pieceRows() * pieces();
}

// Rows of the tables that there are sets for.
void TableStream::mark(const LoopProgram& program, const Destinations& destinations, Sets& sets) const
{
    Block block(m_session.structure, m_session.analysis, *program.loop);
    block.begin(destinations);
    for (const Ask& ask : asksOf(program)) {
        const auto set = sets.find(spaceOf(ask.table));
        if (set == sets.end()) continue;
        const auto slice = block.slice(ask.on, ask.space, ask.key);
        const at::Tensor rows =
            slice ? slice->columns.narrow(0, slice->first, slice->count) : block.globals(ask.on, ask.space, ask.key);
        if (rows.scalar_type() == at::kInt) markAll<std::int32_t>(rows, set->second);
        else markAll<std::int64_t>(rows, set->second);
    }
}

// The memory for so many rows of the table: a single tile may request more than there is room for.
KeptRows& TableStream::rowsIn(std::map<ir::ValueId, KeptRows>& kept, ir::ValueId table, std::int64_t count)
{
    const std::int64_t wanted = count * m_files.at(table).rowBytes;
    const auto known = kept.find(table);
    if (known != kept.end() && known->second.size() >= wanted) return known->second;
    kept.erase(table);
    const auto most = static_cast<std::int64_t>(m_files.at(table).mapped.nbytes());
    return kept.try_emplace(table, std::max(wanted, std::min(room(), most))).first->second;
}

// For destinations from `firstOwn` on, also loads the own rows that no key refers to.
void TableStream::load(Window& window, const SharedSets& sets, std::int64_t firstOwn)
{
    for (const ir::ValueId v : m_gathered) {
        const FileTable& table = m_files.at(v);
        const auto& asked = sets.at(spaceOf(v));
        KeptRows& kept = rowsIn(m_kept, v, asked->count());
        graph::RowSet missing = kept.arrange(asked, table.rowBytes);
        window.add(table, asked, kept);
        KeptRows* const own =
            std::ranges::find(m_own, v) != m_own.end() ? &ownRows(v, window, *asked, firstOwn, missing) : nullptr;
        m_read +=
            readRows(table, missing, m_session.stop, [&](std::int64_t first, std::int64_t end, const std::byte* rows) {
                kept.put(first, end, rows);
                const std::int64_t from = std::max(first, firstOwn);
                if (own && from < end) own->put(from, end, rows + (from - first) * table.rowBytes);
            });
    }
    m_session.checkStop();
}

// All rows of the window have places, so that none has to be moved when the loop before has put some there.
KeptRows& TableStream::ownRows(ir::ValueId v, Window& window, const graph::RowSet& asked, std::int64_t first,
                               graph::RowSet& missing)
{
    const std::int64_t end = window.range().first + window.range().count;
    const auto range = [&](std::int64_t from) { return graph::RowSet::range(asked.rows(), from, end); };
    auto others = std::make_shared<const graph::RowSet>(range(window.range().first).without(asked));
    KeptRows& own = rowsIn(m_ownKept, v, others->count());
    missing = missing.either(own.arrange(std::move(others), m_files.at(v).rowBytes).both(range(first)));
    own.holdsFrom(first);
    own.release(first);
    window.addOwn(v, own);
    return own;
}

}  // namespace hopscope::executor
