#include "executor/recovery/recovery.h"

#include "executor/loop/contribution_file.h"
#include "executor/recovery/chunk_rows.h"

namespace hopscope::executor {

Recovery::Recovery(Session& session, const StagePrograms& programs, const std::vector<Chunk>& found)
    : m_session(session)
{
    sort(found);
    for (const ir::NamedValue& o : session.analysis.program.outputs) m_needed.insert(o.value);
    if (!session.options.dropStores)
        for (const plan::Checkpoint& c : session.plan.checkpoints) m_needed.insert(c.value);
    for (std::size_t s = programs.size(); s-- > 0;)
        for (std::size_t l = programs[s].size(); l-- > 0;) {
            const LoopNumber number{plan::StageId::at(s), static_cast<int>(l) + 1};
            m_left[number] = examine(programs[s][l], number);
        }
    for (const auto& [number, left] : m_left)
        for (const Chunk& chunk : left.kept) {
            ++m_report.chunks;
            m_report.destinations += chunk.count;
        }
}

// A later record of one process replaces the parts that it overlaps; records of several processes are all valid.
void Recovery::sort(const std::vector<Chunk>& found)
{
    if (!m_session.others()) {
        for (const Chunk& chunk : found) insert(m_found[{chunk.stage, chunk.loop}], chunk);
        return;
    }
    std::map<LoopNumber, std::vector<Chunk>> byLoop;
    for (const Chunk& chunk : found) byLoop[{chunk.stage, chunk.loop}].push_back(chunk);
    for (const auto& [number, chunks] : byLoop) m_found[number] = cover(chunks);
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

// Reductions count as needed: they are small, and their readers are not listed. An incomplete loop needs all values
// that it writes, and all that it reads; a complete one needs only those that are read.
Remainder Recovery::examine(const LoopProgram& program, const LoopNumber& number)
{
    Chunks& chunks = m_found[number];
    const std::int64_t count = m_session.structure.size(program.loop->destination);
    std::set<ir::ValueId> values = written(program, true);
    Remainder left;
    left.needed = !values.empty() || !program.reductions.empty();
    if (left.needed) {
        keepIntact(program, chunks, values);
        if (!gaps(rangesOf(chunks), count).empty()) keepIntact(program, chunks, values = written(program, false));
        if (!program.reductions.empty()) keepTotals(program, chunks);
        left.ranges = gaps(rangesOf(chunks), count);
        if (!left.ranges.empty()) need(program);
        for (const auto& [first, chunk] : chunks) adopt(m_session, program, chunk, values);
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
    std::erase_if(chunks, [&](const auto& item) { return !isIntact(m_session, program, item.second, values); });
    m_report.damaged += static_cast<std::int64_t>(before - chunks.size());
}

void Recovery::keepTotals(const LoopProgram& program, Chunks& chunks)
{
    if (!m_session.others()) return keepPrefix(program, chunks);
    std::erase_if(chunks, [&](const auto& item) {
        return !readContributions(m_session.options.folder + "/" + item.second.parts, reducedOps(program));
    });
}

// Totals cover everything before the end of a chunk.
void Recovery::keepPrefix(const LoopProgram& program, Chunks& chunks)
{
    auto end = chunks.begin();
    for (std::int64_t next = 0; end != chunks.end() && end->first == next; ++end) next += end->second.count;
    chunks.erase(end, chunks.end());
    while (!chunks.empty() && !readTotals(m_session, program, chunks.rbegin()->second.totals))
        chunks.erase(std::prev(chunks.end()));
}

}  // namespace hopscope::executor
