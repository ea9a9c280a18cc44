#include "server/run_observer.h"

#include <algorithm>

namespace hopscope::engine {

using protocol::RunState;

double ServedRun::now() const { return std::chrono::duration<double>(Clock::now() - m_began).count() - m_paused; }

void ServedRun::hold()
{
    if (!m_gate.paused()) return;
    m_feed.setState(RunState::Paused);
    const double waited = m_gate.wait(m_stop);
    m_paused += waited;
    m_pausedIn[m_place] += waited;
    m_feed.setState(RunState::Running);
}

void ServedRun::stoppedAt(protocol::StopEvent event)
{
    event.time = now();
    tell(std::move(event));
    const double before = m_paused;
    hold();
    m_pausedInBatch += m_paused - before;
}

void ServedRun::prologueStarted()
{
    m_began = Clock::now();
    m_feed.setState(RunState::Running);
    hold();
}

void ServedRun::prologueFinished(double seconds) { tell(protocol::PrologueEvent{seconds}); }

void ServedRun::stageStarted(const executor::StageEvent& event)
{
    m_stages = event.count;
    m_overlap = {};
    m_copies = false;
    m_place = event.index;
    tell(protocol::StageEvent{
        .index = event.index, .count = event.count, .destinations = event.destinations, .time = now()});
    hold();
}

void ServedRun::stageFinished(plan::StageId stage, double seconds)
{
    const std::optional<double> overlap = m_overlap.empty() ? std::nullopt : std::optional(m_overlap.share());
    const double worked = seconds - m_pausedIn[stage];
    m_place = {};
    tell(protocol::StageEndEvent{.index = stage, .seconds = worked, .time = now(), .overlap = overlap});
    if (m_gate.ended(protocol::RunStep::Stage)) hold();
    if (stage.number == m_stages && m_verifies) m_feed.setState(RunState::Verifying);
}

void ServedRun::batchFinished(const executor::BatchEvent& event)
{
    tell(protocol::BatchEvent{.stage = event.stage,
                              .loop = event.loop,
                              .batch = event.batch,
                              .destinations = event.destinations,
                              .edges = event.edges,
                              .frontier = event.frontier,
                              .done = event.done,
                              .total = event.total,
                              .memory = event.memory,
                              .peakMemory = event.peakMemory,
                              .time = now(),
                              .reservedMemory = event.reservedMemory});
    m_pausedInBatch = 0;
    if (m_gate.ended(protocol::RunStep::Batch)) hold();
}

// Counts every event; the feed leaves out those that the client is too slow for.
void ServedRun::account(const executor::PhaseEvent& event)
{
    using executor::Phase;
    const executor::Overlap::Span span{event.start, event.start + event.seconds};
    const bool copy = event.phase == Phase::HostToDevice || event.phase == Phase::DeviceToHost;
    m_copies = m_copies || copy;
    if (copy) m_overlap.copied(span);
    else if (m_copies && event.phase == Phase::Compute) m_overlap.computed(span);
}

void ServedRun::phaseFinished(const executor::PhaseEvent& event)
{
    account(event);
    // Phases before a pause after an operator were not delayed by it; only computing was interrupted.
    const bool before = event.phase <= executor::Phase::Compute;
    const double paused = before ? m_paused - m_pausedInBatch : m_paused;
    const double within = event.phase == executor::Phase::Compute ? m_pausedInBatch : 0;
    tell(protocol::PhaseEvent{.stage = event.stage,
                              .batch = event.batch,
                              .phase = event.phase,
                              .start = std::max(0.0, event.start - paused),
                              .seconds = std::max(0.0, event.seconds - within),
                              .device = event.device});
}

void ServedRun::note(const std::string& sentence) { tell(protocol::NoteEvent{sentence}); }

}  // namespace hopscope::engine
