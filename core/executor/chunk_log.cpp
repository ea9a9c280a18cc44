#include "executor/chunk_log.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "executor/loop.h"
#include "graph/safetensors.h"
#include "loader/tensors.h"

namespace hopscope::executor {

namespace {

constexpr double totalsPerSecond = 20e6;  // bytes that may be written for the totals of reductions
constexpr const char* sumOfTotals = "digest";

// What a total consists of, by its name in the file. Counts are exact as double.
base::TensorMap viewsOf(const Batch::Contributions& totals)
{
    base::TensorMap views;
    for (const auto& [op, total] : totals) {
        const std::string name = "op" + std::to_string(op.index);
        if (total.empty) continue;
        views[name + ".count"] = loader::toView(at::scalar_tensor(total.count, at::kDouble));
        if (total.value.defined()) views[name + ".value"] = loader::toView(total.value.contiguous());
        if (total.spread.defined()) views[name + ".spread"] = loader::toView(total.spread.contiguous());
    }
    return views;
}

// In the order of the names.
at::Tensor digestOfAll(const base::TensorMap& views)
{
    std::vector<graph::Digest> parts;
    for (const auto& [name, view] : views)
        if (name != sumOfTotals) parts.push_back(graph::digestOf(view.data, static_cast<std::size_t>(view.bytes())));
    const graph::Digest all = graph::digestOf(parts);
    at::Tensor bytes = at::empty({static_cast<std::int64_t>(all.bytes.size())}, at::kByte);
    std::memcpy(bytes.data_ptr(), all.bytes.data(), all.bytes.size());
    return bytes;
}

bool intact(const base::TensorMap& views)
{
    const auto sum = views.find(sumOfTotals);
    return sum != views.end() && at::equal(loader::toTensor(sum->second), digestOfAll(views));
}

Contribution totalFrom(const base::TensorMap& views, const std::string& name)
{
    const auto part = [&](const char* suffix) {
        const auto it = views.find(name + suffix);
        return it == views.end() ? at::Tensor() : loader::toTensor(it->second).clone();
    };
    const at::Tensor count = part(".count");
    if (!count.defined()) return {};
    return {part(".value"), part(".spread"), count.item<double>(), false};
}

}  // namespace

void Rounding::add(const Rounding& other)
{
    maxAbsolute = std::max(maxAbsolute, other.maxAbsolute);
    largest = std::max(largest, other.largest);
    infinite += other.infinite;
}

std::string totalsFile(const LoopNumber& number, std::int64_t end)
{
    return "totals-" + std::to_string(number.stage) + "-" + std::to_string(number.loop) + "-" + std::to_string(end) +
           ".safetensors";
}

bool readTotals(Session& session, const LoopProgram& program, const std::string& file)
{
    const base::Result<base::TensorMap> views = graph::mapSafetensors(session.options.folder + "/" + file);
    if (!views || !intact(*views)) return false;
    for (const Reduced& r : program.reductions)
        session.reducer(r.op).replace(totalFrom(*views, "op" + std::to_string(r.op.index)));
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
    for (const Written& w : m_program.writes) fresh.rows.push_back({ir::valueName(w.value), {}, {}});
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
    m_totals.clear();
    for (const Reduced& r : m_program.reductions) m_totals.emplace_back(r.op, m_session.reducer(r.op).total());
}

double ChunkLog::totalsBytes() const
{
    std::int64_t bytes = 0;
    for (const Reduced& r : m_program.reductions) bytes += m_session.reducer(r.op).heldBytes();
    return static_cast<double>(bytes);
}

void ChunkLog::close(bool last)
{
    if (m_chunk.count == 0) return;
    const bool early = m_session.seconds() - m_written < totalsBytes() / totalsPerSecond;
    if (last || !early) write();
}

// Totals are there before the record that names them; those before the last ones stay until then, because the last record
// may turn out to be torn.
void ChunkLog::write()
{
    for (std::size_t w = 0; w < m_digests.size(); ++w) m_chunk.rows[w].digest = graph::digestOf(m_digests[w]).hex();
    m_chunk.totals = m_program.reductions.empty() ? std::string() : writeTotals();
    unwrap(m_session.options.journal->append(m_chunk));
    std::error_code ignored;
    if (!m_older.empty()) std::filesystem::remove(m_session.options.folder + "/" + m_older, ignored);
    m_older = std::exchange(m_before, m_chunk.totals);
    m_chunk.count = 0;
    m_written = m_session.seconds();
}

std::string ChunkLog::writeTotals()
{
    const std::string file = totalsFile({m_chunk.stage, m_chunk.loop}, m_chunk.first + m_chunk.count);
    base::TensorMap views = viewsOf(m_totals);
    views[sumOfTotals] = loader::toView(digestOfAll(views));
    unwrap(graph::writeSafetensors(m_session.options.folder + "/" + file, views, graph::Flush::No));
    return file;
}

}  // namespace hopscope::executor
