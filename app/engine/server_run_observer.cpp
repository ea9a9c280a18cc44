#include "server_run_observer.h"

namespace hopscope::engine {

using protocol::RunState;

double ServedRun::now() const { return std::chrono::duration<double>(Clock::now() - m_began).count(); }

void ServedRun::hold()
{
    if (!m_gate.paused()) return;
    m_feed.setState(RunState::Paused);
    m_paused += m_gate.wait(m_stop);
    m_feed.setState(RunState::Running);
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
    tell(protocol::StageEvent{event.index, event.count, event.destinations, now()});
    hold();
}

void ServedRun::stageFinished(int stage, double seconds)
{
    tell(protocol::StageEndEvent{stage, seconds, now()});
    if (m_gate.ended(RunGate::Unit::Stage)) hold();
    if (stage == m_stages && m_verifies) m_feed.setState(RunState::Verifying);
}

void ServedRun::batchFinished(const executor::BatchEvent& event)
{
    tell(protocol::BatchEvent{event.stage, event.loop, event.batch, event.destinations, event.edges, event.frontier,
                              event.done, event.total, event.memory, event.peakMemory, now()});
    if (m_gate.ended(RunGate::Unit::Batch)) hold();
}

void ServedRun::phaseFinished(const executor::PhaseEvent& event)
{
    tell(protocol::PhaseEvent{event.stage, event.batch, static_cast<int>(event.phase), event.start, event.seconds});
}

void ServedRun::note(const std::string& sentence) { tell(protocol::NoteEvent{sentence}); }

}  // namespace hopscope::engine
