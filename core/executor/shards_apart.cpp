// Shards, as far as processes share no stores (Ownership).

#include <algorithm>
#include <iterator>

#include "executor/shards.h"

namespace hopscope::executor {

bool Shards::keeps(ir::ValueId value) const
{
    return !m_ownership || !m_ownership->gathers() || m_session.isOutput(value);
}

std::vector<Chunk> Shards::own(const std::vector<Chunk>& found) const
{
    if (!m_ownership) return found;
    std::vector<Chunk> own;
    std::ranges::copy_if(found, std::back_inserter(own), [&](const Chunk& chunk) {
        const Destinations mine = m_ranges->of({chunk.stage, chunk.loop}, m_ownership->index);
        return chunk.first >= mine.first && chunk.first + chunk.count <= mine.first + mine.count;
    });
    return own;
}

// What was noted by an earlier process counts only where it was taken over: its rows may be damaged.
Ranges Shards::ownOpen(const LoopNumber& number)
{
    const Destinations mine = m_ranges->of(number, m_ownership->index);
    return difference(united({mine}), loop(number).mine);
}

std::vector<Chunk> Shards::takeBack(const LoopNumber& number)
{
    if (!m_ownership) return {};
    gather();
    Loop& mine = loop(number);
    std::vector<Chunk> fresh, taken;
    for (const auto& [first, chunk] : cover(own(m_found[number])))
        if (intersection({{first, chunk.count}}, mine.mine).empty()) fresh.push_back(chunk);
    const std::vector<bool> intact = verify(programOf(number), fresh);
    for (std::size_t i = 0; i < fresh.size(); ++i)
        if (intact[i]) taken.push_back(std::move(fresh[i]));
    if (taken.size() < fresh.size())
        m_session.noteOnce("stage " + std::to_string(number.stage.number) +
                           ": rows that were handed back were damaged, and are computed again");
    Ranges whole;
    for (const Chunk& chunk : taken) whole.push_back({chunk.first, chunk.count});
    add(mine, whole);
    return taken;
}

StageShards Shards::ownLeft(plan::StageId stage, int parts)
{
    StageShards left;
    double all = 0;
    for (int l = 1; l <= loopsOf(stage); ++l) {
        const Destinations mine = m_ranges->of({stage, l}, m_ownership->index);
        const LoopWork& work = m_ranges->work({stage, l});
        all += work.before(mine.first + mine.count) - work.before(mine.first);
        left.total += mine.count;
    }
    for (int l = 1; l <= loopsOf(stage); ++l) {
        const Ranges open = ownOpen({stage, l});
        for (const Destinations& range : open)
            std::ranges::move(m_ranges->work({stage, l}).pieces(range, l, all / parts),
                              std::back_inserter(left.shards));
        left.done -= sizeOf(open);
    }
    left.done += left.total;
    return left;
}

bool Shards::recordsComplete(const LoopNumber& number) const
{
    const auto found = m_found.find(number);
    const Chunks noted = found == m_found.end() ? Chunks() : cover(found->second);
    return gaps(rangesOf(noted), countOf(number)).empty();
}

// Its own destinations, the rows that later stages read of others, and of loops with reductions everybody's records.
void Shards::checkComplete(plan::StageId stage)
{
    gather();
    const auto refuse = [&](const std::string& what) {
        raise(base::ErrorCode::Usage, "stage " + std::to_string(stage.number) + " cannot be left: " + what, {});
    };
    for (int l = 1; l <= loopsOf(stage); ++l) {
        const LoopNumber number{stage, l};
        if (!ownOpen(number).empty()) refuse("not all destinations of this worker have been computed");
        if (needsRecords(number) && !recordsComplete(number)) refuse("records of other workers are missing");
    }
    if (!m_exchange->complete(stage)) refuse("rows of other workers are missing");
}

std::vector<Chunk> Shards::tell(plan::StageId stage)
{
    if (!stage.valid() || stage.number > static_cast<int>(m_programs.size()))
        raise(base::ErrorCode::Usage, "there is no stage " + std::to_string(stage.number), {});
    gather();
    std::vector<Chunk> told;
    for (int l = 1; l <= loopsOf(stage); ++l)
        for (const auto& [first, chunk] : cover(own(m_found[{stage, l}]))) told.push_back(chunk);
    return told;
}

Exchanged Shards::exchange(const Order& order)
{
    Exchanged result;
    switch (order.kind) {
    case Order::Kind::Want:
        result.wanted = m_exchange->wanted();
        if (order.own) result.own = m_exchange->own();
        result.hears = hears();
        break;
    case Order::Kind::Export: result.parcel = m_exchange->exportRows(order.parcel); break;
    case Order::Kind::Import: result.parcel = m_exchange->importRows(order.parcel); break;
    case Order::Kind::Tell: result.chunks = tell(order.stage); break;
    default: break;
    }
    return result;
}

// Reductions are merged from what all have contributed; who gathers reports on all.
bool Shards::needsRecords(const LoopNumber& number) const
{
    return m_ownership->gathers() || !programOf(number).reductions.empty();
}

std::vector<plan::StageId> Shards::hears() const
{
    std::vector<plan::StageId> stages;
    for (std::size_t s = 0; s < m_programs.size(); ++s)
        for (int l = 1; l <= static_cast<int>(m_programs[s].size()); ++l)
            if (needsRecords({plan::StageId::at(s), l}) && (stages.empty() || stages.back() != plan::StageId::at(s)))
                stages.push_back(plan::StageId::at(s));
    return stages;
}

Shards::Takeover Shards::gathered(const LoopNumber& number)
{
    Takeover taken;
    for (const auto& [first, chunk] : chunksOf(number)) taken.chunks.push_back(chunk);
    const std::vector<bool> intact = verify(programOf(number), taken.chunks);
    if (std::ranges::find(intact, false) != intact.end())
        raise(base::ErrorCode::Input,
              "stage " + std::to_string(number.stage.number) + ": rows that a worker has handed over are damaged",
              "is a disk or a memory module broken? The same command computes them again", m_session.options.folder);
    return taken;
}

}  // namespace hopscope::executor
