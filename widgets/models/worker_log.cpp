#include "models/worker_log.h"

#include "models/labels.h"
#include "models/thinning.h"

namespace hopscope::models {

using protocol::ShardOutcome;
using protocol::WorkerNews;

const ShardSpan* WorkerLane::underWay() const
{
    return !shards.empty() && shards.back().underWay() ? &shards.back() : nullptr;
}

bool WorkerLane::here() const { return !lives.empty() && lives.back().joined && !lives.back().to; }

std::optional<double> WorkerLane::rate() const { return work > 0 ? std::optional(seconds / work) : std::nullopt; }

WorkerLane& WorkerLog::lane(int number)
{
    while (std::ssize(m_lanes) < number) {
        m_lanes.emplace_back();
        m_lanes.back().number = static_cast<int>(m_lanes.size());
    }
    return m_lanes[static_cast<std::size_t>(number) - 1];
}

void WorkerLog::apply(const protocol::WorkerEvent& event)
{
    WorkerLane& lane = this->lane(event.worker);
    if (!event.host.empty()) lane.host = text(event.host);
    lane.late = event.what == WorkerNews::Late;
    if (event.what == WorkerNews::Starting || lane.lives.empty()) lane.lives.push_back({.from = event.time});
    WorkerLife& life = lane.lives.back();
    if (event.what == WorkerNews::Joined) life.joined = event.time;
    const bool lost = event.what == WorkerNews::Lost, ends = lost || event.what == WorkerNews::Refused;
    if (!ends && event.what != WorkerNews::Done) return;
    life.to = event.time;
    life.lost = ends;
    life.reason = text(event.message);
    m_lost += lost ? 1 : 0;
}

bool WorkerLog::apply(const protocol::ShardEvent& event)
{
    WorkerLane& lane = this->lane(event.worker);
    lane.late = false;
    if (lane.underWay() != nullptr) lane.shards.back().event = event;
    else lane.shards.push_back({event});
    if (event.outcome == ShardOutcome::Begun) {
        lane.shards.back().event.end = event.begin;
        m_again += event.attempt > 1 ? 1 : 0;
        return thin(lane.shards, m_limit, [](const ShardSpan& span) { return span.event.end - span.event.begin; });
    }
    if (event.outcome == ShardOutcome::Lost) return false;
    ++lane.count;
    lane.destinations += event.destinations;
    lane.written += event.written;
    lane.seconds += event.end - event.begin;
    lane.work += event.work;
    m_finished.push_back({event.end, event.destinations + (m_finished.empty() ? 0 : m_finished.back().rows)});
    return thin(m_finished, m_limit, [](const FinishedRows& point) { return point.time; });
}

void WorkerLog::apply(const protocol::ReadBackEvent& event)
{
    WorkerLane& lane = this->lane(event.worker);
    lane.readBacks.push_back(event);
    lane.readBack += event.bytes;
}

void WorkerLog::apply(const protocol::BarrierEvent& event)
{
    m_barriers.push_back(event);
    m_stage.reset();
}

}  // namespace hopscope::models
