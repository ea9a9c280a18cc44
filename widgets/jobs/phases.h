#pragma once

// The phases of a workbench's requests, as state machines. Planning, running and explaining are independent of each
// other, so each has its own states. The functions are pure; an event without a meaning in a state leaves the state
// unchanged.

namespace hopscope::jobs {

// Reporting means that planning takes long enough to show its progress. Refusing means that the refused cuts are being
// undone, which requests no plan.
enum class PlanPhase { Settled, Planning, Reporting, Refusing };
enum class PlanEvent { Asked, Progressed, Refused, Ended };  // Ended: answered, abandoned, or the cuts are undone

constexpr PlanPhase after(PlanPhase phase, PlanEvent event)
{
    switch (event) {
    case PlanEvent::Asked: return PlanPhase::Planning;
    case PlanEvent::Progressed: return phase == PlanPhase::Planning ? PlanPhase::Reporting : phase;
    case PlanEvent::Refused: return PlanPhase::Refusing;
    case PlanEvent::Ended: return PlanPhase::Settled;
    }
    return phase;
}

constexpr bool isPlanning(PlanPhase phase) { return phase == PlanPhase::Planning || phase == PlanPhase::Reporting; }

// Starting means that the engine has been asked for a run and has not numbered it yet. Stopping means the same, and the
// run is to be stopped as soon as it has a number.
enum class RunPhase { Idle, Starting, Stopping, Running };
enum class RunEvent { Started, StopWanted, Numbered, Ended };

constexpr RunPhase after(RunPhase phase, RunEvent event)
{
    const bool waiting = phase == RunPhase::Starting || phase == RunPhase::Stopping;
    switch (event) {
    case RunEvent::Started: return phase == RunPhase::Idle ? RunPhase::Starting : phase;
    case RunEvent::StopWanted: return phase == RunPhase::Starting ? RunPhase::Stopping : phase;
    case RunEvent::Numbered: return waiting ? RunPhase::Running : phase;
    case RunEvent::Ended: return RunPhase::Idle;
    }
    return phase;
}

// The request to explain the plan. Postponed means that it was dropped for a more urgent request and will be repeated
// afterwards.
enum class ExplainPhase { Idle, Asked, Postponed };
enum class ExplainEvent { Asked, Postponed, Ended };  // Ended: answered, or no longer wanted

constexpr ExplainPhase after(ExplainPhase phase, ExplainEvent event)
{
    switch (event) {
    case ExplainEvent::Asked: return ExplainPhase::Asked;
    case ExplainEvent::Postponed: return phase == ExplainPhase::Asked ? ExplainPhase::Postponed : phase;
    case ExplainEvent::Ended: return ExplainPhase::Idle;
    }
    return phase;
}

}  // namespace hopscope::jobs
