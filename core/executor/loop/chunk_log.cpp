#include "executor/loop/chunk_log.h"

#include <algorithm>
#include <filesystem>

#include "executor/loop/contribution_file.h"
#include "executor/loop/loop.h"

namespace hopscope::executor {

namespace {

constexpr double totalsPerSecond = 20e6;  // bytes that may be written for the totals of reductions

}  // namespace

void Rounding::add(const Rounding& other)
{
    maxAbsolute = std::max(maxAbsolute, other.maxAbsolute);
    largest = std::max(largest, other.largest);
    infinite += other.infinite;
}

std::string totalsFile(const LoopNumber& number, std::int64_t end)
{
    return "totals-" + std::to_string(number.stage.number) + "-" + std::to_string(number.loop) + "-" +
           std::to_string(end) + ".safetensors";
}

std::string partsFile(const LoopNumber& number, std::int64_t first, std::int64_t end)
{
    return "parts-" + std::to_string(number.stage.number) + "-" + std::to_string(number.loop) + "-" +
           std::to_string(first) + "-" + std::to_string(end) + ".safetensors";
}

std::vector<ir::OpId> reducedOps(const LoopProgram& program)
{
    std::vector<ir::OpId> ops;
    for (const Reduced& r : program.reductions) ops.push_back(r.op);
    return ops;
}

bool readTotals(Session& session, const LoopProgram& program, const std::string& file)
{
    auto parts = readContributions(session.options.folder + "/" + file, reducedOps(program));
    if (!parts || parts->size() != 1) return false;
    for (auto& [op, total] : parts->front()) session.reducer(op).replace(std::move(total));
    return true;
}

ChunkLog::ChunkLog(Session& session, const LoopProgram& program, const LoopNumber& number)
    : m_session(session),
      m_program(program)
{
    m_chunk.stage = number.stage;
    m_chunk.loop = number.loop;
}

bool ChunkLog::continues(const BatchFigures& next) const
{
    return m_chunk.first + m_chunk.count == next.first && m_lastTile == m_chunk.tile &&
           next.destinations <= m_chunk.tile;
}

void ChunkLog::begin(const BatchFigures& finished)
{
    Chunk fresh;
    fresh.stage = m_chunk.stage;
    fresh.loop = m_chunk.loop;
    fresh.first = finished.first;
    fresh.tile = fresh.smallest = finished.destinations;
    for (const Written& w : m_program.writes) fresh.rows.push_back({.value = w.value, .digest = {}, .lost = {}});
    m_chunk = std::move(fresh);
    m_digests.assign(m_program.writes.size(), {});
}

void ChunkLog::add(const BatchFigures& finished)
{
    if (!m_session.options.journal) return;
    if (m_chunk.count > 0 && !continues(finished)) write();
    if (m_chunk.count == 0) begin(finished);
    require(finished.parts.size() == m_digests.size(), "a batch has not stored what its loop writes");
    for (std::size_t w = 0; w < m_digests.size(); ++w) {
        m_digests[w].push_back(finished.parts[w].digest);
        std::optional<Rounding>& lost = m_chunk.rows[w].lost;
        if (!finished.parts[w].lost) continue;
        if (!lost) lost.emplace();
        lost->add(*finished.parts[w].lost);
    }
    ++m_chunk.batches;
    m_chunk.count += finished.destinations;
    m_chunk.smallest = std::min(m_chunk.smallest, finished.destinations);
    m_chunk.largest = std::max(m_chunk.largest, finished.destinations);
    m_chunk.edges += finished.rows.edges;
    m_chunk.frontier += finished.rows.frontier;
    m_chunk.bytes += finished.bytes;
    m_lastTile = finished.destinations;
    addTotals();
}

// Totals cover everything before the end of the chunk; parts are the contributions of each of its tiles.
void ChunkLog::addTotals()
{
    if (m_program.reductions.empty()) return;
    if (m_session.others()) {
        m_parts.push_back(std::exchange(m_session.apart, {}));
        return;
    }
    m_parts.assign(1, {});
    for (const Reduced& r : m_program.reductions) m_parts[0].emplace_back(r.op, m_session.reducer(r.op).total());
}

double ChunkLog::totalsBytes() const
{
    std::int64_t bytes = 0;
    for (const Reduced& r : m_program.reductions) bytes += m_session.reducer(r.op).heldBytes();
    return static_cast<double>(bytes);
}

void ChunkLog::close(bool last)
{
    if (m_chunk.count == 0 || (m_whole && !last)) return;
    const bool early = m_session.seconds() - m_written < totalsBytes() / totalsPerSecond;
    if (last || !early) write();
}

void ChunkLog::write()
{
    for (std::size_t w = 0; w < m_digests.size(); ++w) m_chunk.rows[w].digest = graph::digestOf(m_digests[w]).hex();
    const bool shared = m_session.others() != nullptr;
    if (!m_program.reductions.empty()) (shared ? m_chunk.parts : m_chunk.totals) = writeParts(shared);
    unwrap(m_session.options.journal->append(m_chunk));
    if (!shared) removeOlder();
    m_chunk.count = 0;
    m_parts.clear();
    m_written = m_session.seconds();
}

// Totals are written before the record that names them; the previous ones stay until then, because the last record may
// turn out to be torn.
void ChunkLog::removeOlder()
{
    std::error_code ignored;
    if (!m_older.empty()) std::filesystem::remove(m_session.options.folder + "/" + m_older, ignored);
    m_older = std::exchange(m_before, m_chunk.totals);
}

std::string ChunkLog::writeParts(bool shared)
{
    const LoopNumber number{m_chunk.stage, m_chunk.loop};
    const std::int64_t end = m_chunk.first + m_chunk.count;
    const std::string file = shared ? partsFile(number, m_chunk.first, end) : totalsFile(number, end);
    writeContributions(m_session.options.folder + "/" + file, m_parts);
    return file;
}

}  // namespace hopscope::executor
