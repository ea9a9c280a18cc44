#include "executor/shards.h"

#include <algorithm>

#include <ATen/Parallel.h>

#include "analysis/naming/value_names.h"
#include "base/units.h"
#include "executor/chunk_rows.h"
#include "executor/contribution_file.h"

namespace hopscope::executor {

namespace {

constexpr double workOfRow = 8;         // in edges: a product of a row against a gather
constexpr double mostPartsBytes = 4e9;  // of what the tiles of a loop contribute to reductions

}  // namespace

Shards::Shards(Session& session, const StagePrograms& programs, Others& others, const std::vector<Chunk>& found,
               double budget)
    : m_session(session),
      m_programs(programs),
      m_others(others),
      m_budget(budget)
{
    for (const Chunk& chunk : found) m_found[{chunk.stage, chunk.loop}].push_back(chunk);
    for (const auto& [number, chunks] : m_found) {
        Ranges had;
        for (const Chunk& chunk : chunks) had.push_back({chunk.first, chunk.count});
        m_loops[number].had = united(std::move(had));
    }
}

const LoopProgram& Shards::programOf(const LoopNumber& number) const
{
    return m_programs.at(static_cast<std::size_t>(number.stage.number) - 1)
        .at(static_cast<std::size_t>(number.loop) - 1);
}

std::int64_t Shards::countOf(const LoopNumber& number) const
{
    return m_session.structure.size(programOf(number).loop->destination);
}

// ---- parts

Ranges Shards::Loop::ofShard(int index) const
{
    const auto at = static_cast<std::size_t>(index);
    return united({{cuts[at - 1], cuts[at] - cuts[at - 1]}});
}

Shards::Loop& Shards::loop(const LoopNumber& number)
{
    Loop& loop = m_loops[number];
    if (loop.cuts.empty()) loop.cuts = cutsOf(number);
    return loop;
}

// The first destinations of all tiles, or of all batches: these are what may not be cut.
std::vector<std::int64_t> Shards::unitsOf(const LoopProgram& program, LoopSizer& sizer) const
{
    const std::int64_t count = m_session.structure.size(program.loop->destination);
    std::vector<std::int64_t> units;
    for (std::int64_t first = 0; first < count;) {
        units.push_back(first);
        first += program.tiling ? program.tiling->rows : sizer.next(first, count - first, nullptr);
    }
    return units;
}

void Shards::refuseLargeReductions(const LoopProgram& program, std::int64_t units) const
{
    double bytes = 0;
    for (const ir::OpId op : reducedOps(program)) {
        const ir::ValueId made = m_session.analysis.program.op(op).outputs.at(0);
        double elements = 1;
        for (const std::int64_t size : shapeOf(m_session.analysis, made, m_session.structure.sizes()))
            elements *= static_cast<double>(size);
        bytes += 2 * sizeof(double) * elements * static_cast<double>(units);
    }
    if (bytes > mostPartsBytes)
        raise(base::ErrorCode::Unsupported,
              "a reduction over all rows cannot be computed in shards: what its tiles contribute takes " +
                  base::formatBytes(bytes),
              "run it without --shard", ir::describeOp(m_session.analysis.program.op(program.reductions[0].op)));
}

// Parts of about equal work, cut between tiles or batches.
std::vector<std::int64_t> Shards::cutsOf(const LoopNumber& number)
{
    const LoopProgram& program = programOf(number);
    const std::int64_t count = countOf(number);
    LoopSizer sizer(m_session, program, m_budget);
    std::vector<std::int64_t> units = unitsOf(program, sizer);
    refuseLargeReductions(program, static_cast<std::int64_t>(units.size()));
    units.push_back(count);
    std::vector<double> work(units.size(), 0);
    for (std::size_t u = 1; u < units.size(); ++u) {
        const Destinations unit{units[u - 1], units[u] - units[u - 1]};
        work[u] =
            work[u - 1] + static_cast<double>(sizer.ownedRows(unit)) + workOfRow * static_cast<double>(unit.count);
    }
    const int shards = m_others.share().count;
    std::vector<std::int64_t> cuts{0};
    for (int i = 1; i < shards; ++i) {
        const double until = work.back() * i / shards;
        const auto at = std::ranges::lower_bound(work, until) - work.begin();
        cuts.push_back(std::max(units[static_cast<std::size_t>(at)], cuts.back()));
    }
    cuts.push_back(count);
    return cuts;
}

Ranges Shards::part(const LoopNumber& number, const Remainder* left)
{
    Loop& loop = this->loop(number);
    Ranges mine = loop.ofShard(m_others.share().index);
    if (left != nullptr) {
        Ranges wanted = intersection(left->ranges, mine);
        const Ranges damaged = intersection(left->ranges, loop.had);
        wanted.insert(wanted.end(), damaged.begin(), damaged.end());
        mine = united(std::move(wanted));
        for (const Chunk& chunk : left->kept) loop.mine.push_back({chunk.first, chunk.count});
    }
    m_computed += sizeOf(mine);
    loop.mine.insert(loop.mine.end(), mine.begin(), mine.end());
    loop.mine = united(std::move(loop.mine));
    return mine;
}

// ---- waiting

void Shards::gather()
{
    m_found.clear();
    for (Chunk& chunk : unwrap(m_others.gather())) m_found[{chunk.stage, chunk.loop}].push_back(std::move(chunk));
}

void Shards::collect(const LoopNumber& number, Waiting& waiting)
{
    const std::int64_t count = countOf(number);
    Ranges there;
    for (const Chunk& chunk : m_found[number]) there.push_back({chunk.first, chunk.count});
    const Ranges open = gaps(united(std::move(there)), count);
    waiting.total += count;
    waiting.done += count - sizeOf(open);
    if (open.empty()) return;
    for (int i = 1; i <= m_others.share().count; ++i)
        if (const std::int64_t left = sizeOf(intersection(open, loop(number).ofShard(i))); left > 0)
            waiting.left[i] += left;
}

Waiting Shards::missing(plan::StageId stage)
{
    gather();
    Waiting waiting;
    waiting.stage = stage;
    waiting.stages = static_cast<int>(m_programs.size());
    const auto loops = static_cast<int>(m_programs.at(static_cast<std::size_t>(stage.number) - 1).size());
    for (int l = 1; l <= loops; ++l) collect({stage, l}, waiting);
    return waiting;
}

bool Shards::finished(plan::StageId stage)
{
    const bool last = stage == plan::StageId(static_cast<int>(m_programs.size()));
    const double began = m_session.seconds();
    Waiting waiting = missing(stage);
    for (; !last && !waiting.left.empty(); waiting = missing(stage)) {
        m_session.checkStop();
        unwrap(m_others.wait(waiting, m_session.stop));
    }
    m_others.ready();
    m_waited += m_session.seconds() - began;
    if (!last) return true;
    return waiting.left.empty() && unwrap(m_others.conclude(m_session.stop));
}

// ---- what others have computed

Chunks Shards::chunksOf(const LoopNumber& number) const
{
    Chunks chunks;
    if (const auto found = m_found.find(number); found != m_found.end())
        for (const Chunk& chunk : found->second) insert(chunks, chunk);
    if (!gaps(rangesOf(chunks), countOf(number)).empty())
        raise(base::ErrorCode::Resources,
              "the records of stage " + std::to_string(number.stage.number) +
                  " overlap: was a shard running twice at once?",
              "end all of them and start again in another folder", m_session.options.folder);
    return chunks;
}

// Side by side, each chunk on one core.
std::vector<bool> Shards::verify(const LoopProgram& program, const std::vector<Chunk>& chunks)
{
    std::set<ir::ValueId> values;
    for (const Written& w : program.writes) {
        values.insert(w.value);
        m_session.createStore(w.value).refresh();
    }
    std::vector<char> intact(chunks.size(), 0);
    at::parallel_for(0, static_cast<std::int64_t>(chunks.size()), 1, [&](std::int64_t first, std::int64_t last) {
        for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
            intact[i] = isIntact(m_session, program, chunks[i], values) ? 1 : 0;
    });
    const std::vector<ir::OpId> ops = reducedOps(program);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        if (!ops.empty() && !readContributions(m_session.options.folder + "/" + chunks[i].parts, ops)) intact[i] = 0;
        if (intact[i] != 0) adopt(m_session, program, chunks[i], values);
    }
    return {intact.begin(), intact.end()};
}

Shards::Takeover Shards::takeOver(const LoopNumber& number)
{
    Loop& loop = this->loop(number);
    std::vector<Chunk> fresh;
    for (const auto& [first, chunk] : chunksOf(number))
        if (intersection(loop.mine, {{first, chunk.count}}).empty()) fresh.push_back(chunk);
    const std::vector<bool> intact = verify(programOf(number), fresh);
    Takeover taken;
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        const Destinations range{fresh[i].first, fresh[i].count};
        loop.mine.push_back(range);
        if (!intact[i]) {
            taken.damaged.push_back(range);
            m_computed += range.count;
        } else {
            taken.chunks.push_back(std::move(fresh[i]));
        }
    }
    loop.mine = united(std::move(loop.mine));
    return taken;
}

void Shards::mergeReductions(const LoopNumber& number)
{
    const std::vector<ir::OpId> ops = reducedOps(programOf(number));
    if (ops.empty()) return;
    gather();
    for (const auto& [first, chunk] : chunksOf(number)) {
        const auto parts = readContributions(m_session.options.folder + "/" + chunk.parts, ops);
        if (!parts)
            raise(base::ErrorCode::Resources, chunk.parts + ": is damaged or missing",
                  "end all shards and start them again", m_session.options.folder);
        for (const Contributions& tile : *parts) mergeTotals(m_session, tile);
    }
}

}  // namespace hopscope::executor
