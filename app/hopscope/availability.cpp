#include "availability.h"

#include "models/run_log.h"

namespace hopscope::window {

bool isMet(Needs needs, const WindowParts& parts)
{
    const models::Document& document = parts.document;
    const bool running = parts.workbench.running();
    switch (needs) {
    case Needs::Nothing: return true;
    case Needs::Model: return document.model() != nullptr;
    case Needs::Plan: return document.plan() != nullptr;
    case Needs::IdleRun: return document.plan() && !running && parts.engine.state() == jobs::EngineState::Ready;
    case Needs::IdlePausable: return isMet(Needs::IdleRun, parts) && parts.engine.pauses();
    case Needs::ActiveRun: return running;
    case Needs::ActivePausable: return running && parts.engine.pauses();
    case Needs::PausedRun:
        return running && document.runLog() && document.runLog()->state() == protocol::RunState::Paused;
    case Needs::Step: return isMet(Needs::IdlePausable, parts) || isMet(Needs::PausedRun, parts);
    case Needs::Runs: return !document.runs().empty();
    case Needs::RunLog: return document.runLog() != nullptr;
    }
    return false;
}

}  // namespace hopscope::window
