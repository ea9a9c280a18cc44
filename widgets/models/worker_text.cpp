#include "models/worker_text.h"

#include <algorithm>
#include <cmath>

#include "models/labels.h"
#include "models/tr.h"

namespace hopscope::models {

namespace {

using protocol::RunState;
using protocol::ShardOutcome;
using protocol::WorkerNews;

using Lanes = std::vector<const WorkerLane*>;

template <class Condition>
Lanes lanesWhere(const WorkerLog& workers, Condition condition)
{
    Lanes found;
    for (const WorkerLane& lane : workers.lanes())
        if (condition(lane)) found.push_back(&lane);
    return found;
}

QString numberOf(std::size_t count, std::size_t all)
{
    if (count == all) return all == 1 ? tr("The worker") : tr("All %1 workers").arg(all);
    return tr("%1 of %2 workers").arg(count).arg(all);
}

// "worker 1", "workers 1 and 2", "4 others"
QString namesOf(const Lanes& lanes)
{
    constexpr std::size_t mostNamed = 2;
    if (lanes.size() > mostNamed) return tr("%1 others").arg(lanes.size());
    if (lanes.size() == 1) return workerName(*lanes[0]);
    return tr("workers %1 and %2").arg(lanes[0]->number).arg(lanes[1]->number);
}

QString whereTheyAre(const Lanes& busy)
{
    if (busy.size() > 1) return tr("which compute shards of stage %1").arg(busy[0]->underWay()->event.stage.number);
    const protocol::ShardEvent& shard = busy[0]->underWay()->event;
    const QString place = tr("which is at shard %1 of stage %2").arg(shard.shard).arg(shard.stage.number);
    return busy[0]->late ? tr("%1 and is slower than expected").arg(place) : place;
}

QString loadingText(const WorkerLog& workers)
{
    const Lanes loading = lanesWhere(workers, [](const WorkerLane& lane) { return !lane.here(); });
    const std::size_t all = workers.lanes().size();
    const bool one = loading.size() == 1;
    return (one ? tr("%1 loads the model and the data.") : tr("%1 load the model and the data."))
        .arg(one && all > 1 ? tr("1 of %1 workers").arg(all) : numberOf(loading.size(), all));
}

QString runningText(const WorkerLog& workers)
{
    const Lanes busy = lanesWhere(workers, [](const WorkerLane& lane) { return lane.here() && lane.underWay(); });
    const Lanes idle = lanesWhere(workers, [](const WorkerLane& lane) { return lane.here() && !lane.underWay(); });
    const std::size_t all = busy.size() + idle.size();
    if (all == 0) return loadingText(workers);
    if (busy.empty())
        return (all == 1 ? tr("%1 reads rows that other workers have written.")
                         : tr("%1 read rows that other workers have written."))
            .arg(numberOf(all, all));
    if (idle.empty()) {
        const bool one = all == 1;
        return (one ? tr("%1 computes shards of stage %2.") : tr("%1 compute shards of stage %2."))
            .arg(one ? tr("Worker %1").arg(busy[0]->number) : numberOf(all, all))
            .arg(busy[0]->underWay()->event.stage.number);
    }
    return (idle.size() == 1 ? tr("%1 waits for %2, %3.") : tr("%1 wait for %2, %3."))
        .arg(idle.size() == 1 ? tr("1 of %1 workers").arg(all) : numberOf(idle.size(), all), namesOf(busy),
             whereTheyAre(busy));
}

QString verifyingText(const WorkerLog& workers)
{
    const Lanes left = lanesWhere(workers, [](const WorkerLane& lane) { return lane.here(); });
    const QString who = left.size() == 1 ? tr("Worker %1").arg(left[0]->number) : tr("One worker");
    return workers.lanes().size() == 1
               ? tr("%1 compares the results with the unsplit model.").arg(who)
               : tr("%1 compares the results with the unsplit model; the others are done.").arg(who);
}

// The time until the last stage was finished.
QString finishedText(const RunLog& log)
{
    const auto& barriers = log.workers()->barriers();
    const double end = barriers.empty() ? log.elapsed() : barriers.back().time;
    double busy = 0, there = 0;
    for (const WorkerLane& lane : log.workers()->lanes()) {
        busy += lane.seconds;
        for (const WorkerLife& life : lane.lives)
            if (life.joined) there += std::max(0.0, std::min(life.to.value_or(end), end) - *life.joined);
    }
    if (there <= 0) return {};
    const auto percent = std::lround(std::min(100.0, 100 * busy / there));
    return tr("Workers were computing for %1 % of their time.").arg(percent);
}

QString spanText(double begin, double end)
{
    return tr("%1 at %2").arg(formatSeconds(end - begin), formatSeconds(begin));
}

}  // namespace

QString waitSentence(const RunLog& log)
{
    const WorkerLog* const workers = log.workers();
    if (workers == nullptr || workers->lanes().empty()) return {};
    switch (log.state()) {
    case RunState::Finished: return finishedText(log);
    case RunState::Verifying: return verifyingText(*workers);
    case RunState::Preparing:
    case RunState::Paused:
    case RunState::Running: break;
    }
    const QString text = runningText(*workers);
    const Lanes lost = lanesWhere(*workers, [](const WorkerLane& lane) { return !lane.here(); });
    const bool some = !lost.empty() && lost.size() < workers->lanes().size();
    return some ? text + QLatin1Char(' ') + loadingText(*workers) : text;
}

std::optional<Slowest> slowestWorker(const WorkerLog& workers)
{
    const Lanes known = lanesWhere(workers, [](const WorkerLane& lane) { return lane.rate().has_value(); });
    if (known.size() < 2) return std::nullopt;
    const auto slowest = *std::ranges::max_element(known, {}, [](const WorkerLane* lane) { return *lane->rate(); });
    double seconds = 0, work = 0;
    for (const WorkerLane* lane : known) {
        if (lane == slowest) continue;
        seconds += lane->seconds;
        work += lane->work;
    }
    if (seconds <= 0) return std::nullopt;
    return Slowest{slowest->number, *slowest->rate() / (seconds / work) - 1};
}

QString workersSummary(const WorkerLog& workers)
{
    std::int64_t written = 0, readBack = 0;
    for (const WorkerLane& lane : workers.lanes()) {
        written += lane.written;
        readBack += lane.readBack;
    }
    const std::size_t count = workers.lanes().size();
    QStringList parts{count == 1 ? tr("1 worker") : tr("%1 workers").arg(count)};
    if (workers.lost() > 0) parts << tr("%1 lost").arg(workers.lost());
    if (workers.again() == 1) parts << tr("1 shard recomputed");
    if (workers.again() > 1) parts << tr("%1 shards recomputed").arg(workers.again());
    if (const auto slowest = slowestWorker(workers))
        parts << tr("slowest: worker %1, +%2 %").arg(slowest->worker).arg(std::lround(100 * slowest->more));
    if (written > 0)
        parts << tr("%1 written, %2 read back")
                     .arg(formatBytes(static_cast<double>(written)), formatBytes(static_cast<double>(readBack)));
    return parts.join(QStringLiteral(" · "));
}

QString workerNews(const protocol::WorkerEvent& event)
{
    const QString who = tr("worker %1 on %2").arg(event.worker).arg(text(event.host)), why = text(event.message);
    switch (event.what) {
    case WorkerNews::Lost: return tr("%1 was lost: %2; other workers take over its unfinished shards").arg(who, why);
    case WorkerNews::Late: return tr("%1 %2").arg(who, why);
    case WorkerNews::Refused: return tr("%1 was excluded from the run: %2").arg(who, why);
    case WorkerNews::Starting:
    case WorkerNews::Joined:
    case WorkerNews::Done: break;
    }
    return {};
}

QString workerName(const WorkerLane& lane) { return tr("worker %1").arg(lane.number); }

QString laneText(const WorkerLane& lane)
{
    QStringList lines{lane.host.isEmpty() ? workerName(lane) : tr("%1 on %2").arg(workerName(lane), lane.host)};
    lines << (lane.count == 1 ? tr("%1 shard, %2 rows in %3") : tr("%1 shards, %2 rows in %3"))
                 .arg(formatCount(static_cast<double>(lane.count)), formatCount(static_cast<double>(lane.destinations)),
                      formatSeconds(lane.seconds));
    lines << tr("%1 written, %2 read back from others")
                 .arg(formatBytes(static_cast<double>(lane.written)), formatBytes(static_cast<double>(lane.readBack)));
    for (const WorkerLife& life : lane.lives)
        if (life.lost) lines << tr("ended at %1: %2").arg(formatSeconds(*life.to), life.reason);
    return lines.join(QLatin1Char('\n'));
}

QString shardText(const WorkerLane& lane, const protocol::ShardEvent& shard)
{
    const auto rows = [](std::int64_t row) { return formatCount(static_cast<double>(row)); };
    QStringList lines{tr("shard %1 of stage %2 · %3").arg(shard.shard).arg(shard.stage.number).arg(workerName(lane))};
    lines << tr("rows %1 to %2").arg(rows(shard.first), rows(shard.first + shard.count - 1));
    if (shard.outcome == ShardOutcome::Begun) lines << tr("running since %1").arg(formatSeconds(shard.begin));
    else lines << spanText(shard.begin, shard.end);
    if (shard.outcome == ShardOutcome::Computed)
        lines << tr("%1 written, %2 read")
                     .arg(formatBytes(static_cast<double>(shard.written)),
                          formatBytes(static_cast<double>(shard.read)));
    if (shard.attempt > 1) lines << tr("recomputed: attempt %1").arg(shard.attempt);
    if (shard.outcome == ShardOutcome::Found) lines << tr("already computed by others");
    if (shard.outcome == ShardOutcome::Lost) lines << tr("lost with its worker");
    return lines.join(QLatin1Char('\n'));
}

QString readBackText(const WorkerLane& lane, const protocol::ReadBackEvent& event)
{
    return tr("%1 reads rows that others wrote in stage %2\n%3, %4")
        .arg(workerName(lane))
        .arg(event.stage.number)
        .arg(formatBytes(static_cast<double>(event.bytes)), spanText(event.begin, event.end));
}

}  // namespace hopscope::models
