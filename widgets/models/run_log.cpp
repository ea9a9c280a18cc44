#include "models/run_log.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "models/labels.h"
#include "models/thinning.h"
#include "models/worker_text.h"

namespace hopscope::models {

namespace {

struct Apply {
    RunLog::Data& data;
    std::size_t limit;
    int thinnings = 0;

    StageProgress& stage(protocol::StageId index)
    {
        for (StageProgress& known : data.stages)
            if (known.index == index) return known;
        data.stages.push_back({});
        data.stages.back().index = index;
        return data.stages.back();
    }

    void time(double seconds) { data.elapsed = std::max(data.elapsed, seconds); }

    void operator()(const protocol::PrologueEvent& event)
    {
        data.prologueSeconds = event.seconds;
        time(event.seconds);
    }

    void operator()(const protocol::StageEvent& event)
    {
        data.stageCount = std::max(data.stageCount, event.count);
        StageProgress& progress = stage(event.index);
        progress.start = progress.end = event.time;
        progress.destinations = event.destinations;
        progress.done = event.done;
        if (data.workers) data.workers->began(event);
        time(event.time);
    }

    void operator()(const protocol::BatchEvent& event)
    {
        StageProgress& progress = stage(event.stage);
        progress.done = event.done;
        if (event.total > 0) progress.destinations = event.total;
        ++progress.batches;
        progress.peakMemory = std::max(progress.peakMemory, event.peakMemory);
        if (event.reservedMemory > 0)
            progress.reservedMemory = std::max(progress.reservedMemory.value_or(0), event.reservedMemory);
        progress.end = std::max(progress.end, event.time);
        progress.seconds = std::max(progress.seconds, event.time - progress.start);
        data.finished += event.destinations;
        data.batches.push_back({.time = event.time,
                                .destinations = event.destinations,
                                .edges = event.edges,
                                .frontier = event.frontier,
                                .memory = event.memory,
                                .peakMemory = event.peakMemory,
                                .stage = event.stage,
                                .reservedMemory = event.reservedMemory,
                                .finished = data.finished});
        thinnings += thin(data.batches, limit, [](const BatchPoint& point) { return point.peakMemory; });
        time(event.time);
    }

    void operator()(const protocol::PhaseEvent& event)
    {
        stage(event.stage).phases[static_cast<std::size_t>(event.phase)] += event.seconds;
        data.phases.push_back({.start = event.start,
                               .seconds = event.seconds,
                               .stage = event.stage,
                               .phase = static_cast<int>(event.phase),
                               .batch = event.batch,
                               .device = event.device});
        thinnings += thin(data.phases, limit, [](const PhasePoint& point) { return point.seconds; });
        time(event.start + event.seconds);
    }

    void operator()(const protocol::StageEndEvent& event)
    {
        StageProgress& progress = stage(event.index);
        progress.seconds = event.seconds;
        progress.end = event.time;
        progress.overlap = event.overlap;
        progress.finished = true;
        progress.done = progress.destinations;
        time(event.time);
    }

    void operator()(const protocol::StopEvent& event)
    {
        data.stop = event;
        time(event.time);
    }

    void operator()(const protocol::NoteEvent& event) { data.notes << text(event.message); }
    void operator()(const protocol::MergedEvent& event) { data.merged += event.count; }

    WorkerLog& workers()
    {
        if (!data.workers) data.workers.emplace(limit);
        return *data.workers;
    }

    void operator()(const protocol::WorkerEvent& event)
    {
        workers().apply(event);
        if (const QString news = workerNews(event); !news.isEmpty()) data.notes << news;
        time(event.time);
    }

    void operator()(const protocol::ShardEvent& event)
    {
        thinnings += workers().apply(event);
        StageProgress& progress = stage(event.stage);
        if (event.done) progress.done = *event.done;
        if (!progress.finished) {
            progress.end = std::max(progress.end, event.time);
            progress.seconds = std::max(progress.seconds, event.time - progress.start);
        }
        data.finished += event.destinations;
        time(event.time);
    }

    void operator()(const protocol::BarrierEvent& event)
    {
        workers().apply(event);
        time(event.time);
    }

    void operator()(const protocol::ReadBackEvent& event)
    {
        workers().apply(event);
        time(event.end);
    }
};

}  // namespace

void RunLog::apply(const protocol::RunEvents& events)
{
    if (events.state != protocol::RunState::Paused) m_data.stop.reset();
    Apply visitor{.data = m_data, .limit = m_limit, .thinnings = 0};
    for (const protocol::RunEvent& event : events.events) std::visit(visitor, event);
    m_thinnings += visitor.thinnings;
    setState(events.state);
    emit updated();
    const auto stops = [](const protocol::RunEvent& event) {
        return std::holds_alternative<protocol::StopEvent>(event);
    };
    if (std::ranges::any_of(events.events, stops)) emit stopped();
}

void RunLog::finish(RunEnd end, const QString& remark)
{
    m_end = end;
    m_remark = remark;
    setState(protocol::RunState::Finished);
    emit updated();
}

void RunLog::setState(protocol::RunState state)
{
    if (m_state == state) return;
    m_before = std::exchange(m_state, state);
    emit stateChanged(state);
}

// Each stage counts alike, by the share of its destinations that are finished.
double RunLog::fraction() const
{
    if (m_state == protocol::RunState::Finished && m_end == RunEnd::Completed) return 1;
    if (m_data.stages.empty()) return 0;
    double share = 0;
    for (const StageProgress& stage : m_data.stages) {
        if (stage.finished) share += 1;
        else if (stage.destinations > 0)
            share += static_cast<double>(stage.done) / static_cast<double>(stage.destinations);
    }
    const auto count = std::max(static_cast<std::size_t>(std::max(m_data.stageCount, 0)), m_data.stages.size());
    return std::min(1.0, share / static_cast<double>(count));
}

double RunLog::rate() const
{
    if (m_data.stages.empty()) return 0;
    const StageProgress& stage = m_data.stages.back();
    return stage.seconds > 0 ? static_cast<double>(stage.done) / stage.seconds : 0;
}

double RunLog::secondsLeft() const
{
    const double speed = rate();
    if (speed <= 0) return -1;
    const StageProgress& stage = m_data.stages.back();
    return static_cast<double>(stage.destinations - stage.done) / speed;
}

}  // namespace hopscope::models
