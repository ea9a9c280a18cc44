#include "executor/recovery/shards.h"

#include <algorithm>
#include <iterator>

#include <ATen/Parallel.h>

#include "analysis/naming/value_names.h"
#include "base/units.h"
#include "executor/loop/contribution_file.h"
#include "executor/recovery/chunk_rows.h"

namespace hopscope::executor {

namespace {

constexpr double mostPartsBytes = 4e9;  // of the contributions of a loop's tiles to reductions

Ranges rangesOf(const std::vector<Chunk>& chunks)
{
    Ranges ranges;
    for (const Chunk& chunk : chunks) ranges.push_back({chunk.first, chunk.count});
    return united(std::move(ranges));
}

}  // namespace

Shards::Shards(Session& session, const StagePrograms& programs, Others& others, const std::vector<Chunk>& found,
               double budget)
    : m_session(session),
      m_programs(programs),
      m_others(others),
      m_budget(budget)
{
    sort(found);
    for (const auto& [number, chunks] : m_found) m_loops[number].had = rangesOf(chunks);
}

const LoopProgram& Shards::programOf(const LoopNumber& number) const
{
    return m_programs.at(static_cast<std::size_t>(number.stage.number) - 1)
        .at(static_cast<std::size_t>(number.loop) - 1);
}

int Shards::loopsOf(plan::StageId stage) const
{
    return static_cast<int>(m_programs.at(static_cast<std::size_t>(stage.number) - 1).size());
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
    if (loop.work) return loop;
    const LoopProgram& program = programOf(number);
    loop.work.emplace(m_session, program, m_budget);
    refuseLargeReductions(program, loop.work->units());
    if (m_others.dealer() == nullptr) loop.cuts = loop.work->cuts(m_others.share().count);
    return loop;
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
              "a reduction over all rows cannot be computed in shards: the contributions of its tiles would take too "
              "much space, " +
                  base::formatBytes(bytes),
              "let one process compute it", ir::describeOp(m_session.analysis.program.op(program.reductions[0].op)));
}

void Shards::add(Loop& loop, const Ranges& ranges) const
{
    loop.mine.insert(loop.mine.end(), ranges.begin(), ranges.end());
    loop.mine = united(std::move(loop.mine));
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
        add(loop, rangesOf(left->kept));
    }
    m_computed += sizeOf(mine);
    add(loop, mine);
    return mine;
}

// ---- with a dealer

void Shards::begin(const LoopNumber& number, const Remainder* left)
{
    Loop& loop = this->loop(number);
    if (left != nullptr) add(loop, rangesOf(left->kept));
}

Ranges Shards::openOf(const LoopNumber& number) const
{
    const auto found = m_found.find(number);
    const Chunks noted = found == m_found.end() ? Chunks() : cover(found->second);
    return gaps(rangesOf(noted), countOf(number));
}

StageShards Shards::left(plan::StageId stage, int parts)
{
    gather();
    StageShards left;
    double all = 0;
    for (int l = 1; l <= loopsOf(stage); ++l) all += loop({stage, l}).work->total();
    for (int l = 1; l <= loopsOf(stage); ++l) {
        const LoopNumber number{stage, l};
        const Ranges open = openOf(number);
        left.total += countOf(number);
        left.done += countOf(number) - sizeOf(open);
        for (const Destinations& range : open)
            std::ranges::move(loop(number).work->pieces(range, l, all / parts), std::back_inserter(left.shards));
    }
    return left;
}

Ranges Shards::take(plan::StageId stage, const ShardRange& range)
{
    const LoopNumber number{stage, range.loop};
    if (range.loop < 1 || range.loop > loopsOf(stage) || range.count < 1 || !loop(number).work->mayCutAt(range.first) ||
        !loop(number).work->mayCutAt(range.first + range.count))
        raise(base::ErrorCode::Usage,
              "destinations " + std::to_string(range.first) + " to " + std::to_string(range.first + range.count) +
                  " of loop " + std::to_string(range.loop) + " in stage " + std::to_string(stage.number) +
                  " are not a range of whole tiles or batches of a loop in the plan",
              "use a range that shard/list returns");
    gather();
    Loop& mine = loop(number);
    const Ranges wanted = difference(intersection({{range.first, range.count}}, openOf(number)), mine.mine);
    m_computed += sizeOf(wanted);
    add(mine, wanted);
    return wanted;
}

// ---- waiting

void Shards::sort(std::vector<Chunk> found)
{
    m_found.clear();
    for (Chunk& chunk : found) m_found[{chunk.stage, chunk.loop}].push_back(std::move(chunk));
}

void Shards::gather() { sort(unwrap(m_others.gather())); }

void Shards::collect(const LoopNumber& number, Waiting& waiting)
{
    const Ranges open = openOf(number);
    waiting.total += countOf(number);
    waiting.done += countOf(number) - sizeOf(open);
    if (open.empty() || m_others.dealer() != nullptr) return;
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
    for (int l = 1; l <= loopsOf(stage); ++l) collect({stage, l}, waiting);
    return waiting;
}

bool Shards::finished(plan::StageId stage, const std::optional<Order>& told)
{
    const bool last = stage == plan::StageId(static_cast<int>(m_programs.size()));
    if (last && told && !told->publish) return false;
    const double began = m_session.seconds();
    Waiting waiting = missing(stage);
    for (; (!last || told) && !waiting.over(); waiting = missing(stage)) {
        m_session.checkStop();
        unwrap(m_others.wait(waiting, m_session.stop));
    }
    m_others.ready();
    m_waited += m_session.seconds() - began;
    if (!last) return true;
    return waiting.over() && unwrap(m_others.conclude(m_session.stop));
}

// ---- chunks of other processes

Chunks Shards::chunksOf(const LoopNumber& number) const
{
    const auto found = m_found.find(number);
    Chunks chunks = found == m_found.end() ? Chunks() : cover(found->second);
    if (!gaps(rangesOf(chunks), countOf(number)).empty())
        raise(base::ErrorCode::Resources,
              "the records of stage " + std::to_string(number.stage.number) +
                  " overlap: was a shard running twice at once?",
              "end all shards and start again in another folder", m_session.options.folder);
    return chunks;
}

// Side by side, each chunk on one core.
std::vector<bool> Shards::verify(const LoopProgram& program, const std::vector<Chunk>& chunks)
{
    if (chunks.empty()) return {};
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

// A chunk that overlaps with those of this process comes from one that computed the same: its other rows are computed
// here.
Shards::Takeover Shards::takeOver(const LoopNumber& number)
{
    Loop& loop = this->loop(number);
    std::vector<Chunk> fresh;
    Takeover taken;
    for (const auto& [first, chunk] : chunksOf(number)) {
        const Ranges open = difference({{first, chunk.count}}, loop.mine);
        if (sizeOf(open) == chunk.count) fresh.push_back(chunk);
        else taken.open.insert(taken.open.end(), open.begin(), open.end());
    }
    const std::vector<bool> intact = verify(programOf(number), fresh);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        if (!intact[i]) taken.damaged.push_back({fresh[i].first, fresh[i].count});
        else taken.chunks.push_back(std::move(fresh[i]));
    }
    m_computed += sizeOf(taken.damaged) + sizeOf(taken.open);
    add(loop, {{0, countOf(number)}});
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
