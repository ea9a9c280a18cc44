#include "executor/recovery.h"

#include <algorithm>

namespace hopscope::executor {

namespace {

std::vector<Destinations> gaps(const std::map<std::int64_t, Chunk>& chunks, std::int64_t count)
{
    std::vector<Destinations> ranges;
    std::int64_t next = 0;
    for (const auto& [first, chunk] : chunks) {
        if (first > next) ranges.push_back({next, first - next});
        next = first + chunk.count;
    }
    if (next < count) ranges.push_back({next, count - next});
    return ranges;
}

// A later record replaces what it overlaps.
void insert(std::map<std::int64_t, Chunk>& chunks, const Chunk& chunk)
{
    std::erase_if(chunks, [&](const auto& other) {
        return other.first < chunk.first + chunk.count && chunk.first < other.first + other.second.count;
    });
    chunks.emplace(chunk.first, chunk);
}

}  // namespace

Recovery::Recovery(Session& session, const StagePrograms& programs, const std::vector<Chunk>& found)
    : m_session(session)
{
    sort(found);
    for (const ir::NamedValue& o : session.analysis.program.outputs) m_needed.insert(o.value);
    if (!session.options.dropStores)
        for (const plan::Checkpoint& c : session.plan.checkpoints) m_needed.insert(c.value);
    for (std::size_t s = programs.size(); s-- > 0;)
        for (std::size_t l = programs[s].size(); l-- > 0;) {
            const LoopNumber number{static_cast<int>(s) + 1, static_cast<int>(l) + 1};
            m_left[number] = examine(programs[s][l], number);
        }
    for (const auto& [number, left] : m_left)
        for (const Chunk& chunk : left.kept) {
            ++m_report.chunks;
            m_report.destinations += chunk.count;
        }
}

void Recovery::sort(const std::vector<Chunk>& found)
{
    for (const Chunk& chunk : found) insert(m_found[{chunk.stage, chunk.loop}], chunk);
}

std::set<ir::ValueId> Recovery::written(const LoopProgram& program, bool onlyNeeded) const
{
    std::set<ir::ValueId> values;
    for (const Written& w : program.writes)
        if (!onlyNeeded || m_needed.contains(w.value)) values.insert(w.value);
    return values;
}

void Recovery::need(const LoopProgram& program)
{
    for (const plan::Access& read : program.loop->reads) m_needed.insert(read.value);
}

// Reductions count as needed: they are small, and nobody lists who reads them. What is incomplete needs all values that it
// writes, and all that it reads; what is complete needs only those that somebody reads.
Remainder Recovery::examine(const LoopProgram& program, const LoopNumber& number)
{
    Chunks& chunks = m_found[number];
    const std::int64_t count = m_session.structure.size(program.loop->destination);
    std::set<ir::ValueId> values = written(program, true);
    Remainder left;
    left.needed = !values.empty() || !program.reductions.empty();
    if (left.needed) {
        keepIntact(program, chunks, values);
        if (!gaps(chunks, count).empty()) keepIntact(program, chunks, values = written(program, false));
        if (!program.reductions.empty()) keepPrefix(program, chunks);
        left.ranges = gaps(chunks, count);
        if (!left.ranges.empty()) need(program);
        for (const auto& [first, chunk] : chunks) adopt(program, chunk, values);
    }
    for (const auto& [first, chunk] : chunks) left.kept.push_back(chunk);
    return left;
}

void Recovery::keepIntact(const LoopProgram& program, Chunks& chunks, const std::set<ir::ValueId>& values)
{
    if (chunks.empty()) return;
    for (const ir::ValueId value : values)
        if (!m_session.createStore(value).continued()) return chunks.clear();
    const std::size_t before = chunks.size();
    std::erase_if(chunks, [&](const auto& item) { return !intact(program, item.second, values); });
    m_report.damaged += static_cast<std::int64_t>(before - chunks.size());
}

namespace {

at::Tensor rowsOf(Store& store, Block& block, const ir::RowClass& rows)
{
    const Destinations& tile = block.destinations();
    if (block.isRange(rows)) return store.tensor().narrow(store.rowDim(), tile.first, tile.count);
    return store.tensor().index_select(store.rowDim(), block.rows(rows));
}

}  // namespace

bool Recovery::intact(const LoopProgram& program, const Chunk& chunk, const std::set<ir::ValueId>& values)
{
    if (chunk.rows.size() != program.writes.size()) return false;
    Block block(m_session.structure, m_session.analysis, *program.loop);
    std::vector<std::vector<graph::Digest>> digests(program.writes.size());
    for (std::int64_t first = chunk.first; first < chunk.first + chunk.count; first += chunk.tile) {
        m_session.checkStop();
        block.begin({first, std::min(chunk.tile, chunk.first + chunk.count - first)});
        for (std::size_t w = 0; w < digests.size(); ++w) {
            const Written& written = program.writes[w];
            if (!values.contains(written.value)) continue;
            digests[w].push_back(digestOf(rowsOf(*m_session.stores.at(written.value), block, written.rows)));
        }
        block.end();
    }
    for (std::size_t w = 0; w < digests.size(); ++w)
        if (values.contains(program.writes[w].value) && graph::digestOf(digests[w]).hex() != chunk.rows[w].digest)
            return false;
    return true;
}

// Totals are those of everything before the end of a chunk.
void Recovery::keepPrefix(const LoopProgram& program, Chunks& chunks)
{
    auto end = chunks.begin();
    for (std::int64_t next = 0; end != chunks.end() && end->first == next; ++end) next += end->second.count;
    chunks.erase(end, chunks.end());
    while (!chunks.empty() && !readTotals(m_session, program, chunks.rbegin()->second.totals))
        chunks.erase(std::prev(chunks.end()));
}

void Recovery::adopt(const LoopProgram& program, const Chunk& chunk, const std::set<ir::ValueId>& values)
{
    Block block(m_session.structure, m_session.analysis, *program.loop);
    block.begin({chunk.first, chunk.count});
    for (std::size_t w = 0; w < program.writes.size(); ++w) {
        const Written& written = program.writes[w];
        if (!values.contains(written.value)) continue;
        Store& store = m_session.createStore(written.value);
        if (block.isRange(written.rows)) store.adoptRange(chunk.first, chunk.count);
        else store.adopt(block.rows(written.rows));
        if (chunk.rows[w].lost) store.adoptLoss(*chunk.rows[w].lost);
    }
    block.end();
}

}  // namespace hopscope::executor
