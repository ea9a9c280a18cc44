#pragma once

// The state that the parts of a workbench share, and the requests for plans that several of them make.

#include <QUndoStack>

#include "jobs/phases.h"
#include "jobs/workbench.h"

namespace hopscope::jobs {

// The objects behind the first four members must outlive the state.
struct WorkbenchState {
    Workbench& bench;  // the source of the signals, and the context of all requests
    EngineClient& engine;
    models::Document& document;
    QUndoStack& undo;
    std::optional<std::int64_t> engineDocument = {};  // the engine's number of the open model; none while it is lost
    models::PlanPtr exact = {};                       // the loaded plan that is shown, if any
    PlanPhase plan = PlanPhase::Settled;

    [[nodiscard]] bool canPlan() const { return engineDocument && document.model()->splittable; }
    void fail(const QString& what, const base::Error& error) const;
};

// Returns the members of a request about the open model.
template <class Members>
Members ofModel(const WorkbenchState& state)
{
    Members members;
    members.document = state.engineDocument.value_or(0);
    return members;
}

// Returns the members of a request about the current plan.
template <class Members>
Members ofPlan(const WorkbenchState& state)
{
    Members members = ofModel<Members>(state);
    members.plan.value = state.document.plan()->document;
    return members;
}

// Returns the members of a request for a plan. With `near`, the best plan close to the current one suffices for an
// optimum.
template <class Members>
Members forPlan(const WorkbenchState& state, const models::Settings& settings, bool near = false)
{
    Members members = ofModel<Members>(state);
    members.settings = settings;
    members.pins = settings.pins;
    members.near = near && !base::isRule(settings.strategy);
    return members;
}

// Reads the answer of plan/make or plan/load on another thread; drops it if `context` has been destroyed by then.
EngineClient::Answer readingPlan(const WorkbenchState& state, QObject* context, Workbench::WhatIf answer);

std::vector<std::string> texts(const QStringList& list);

bool isCancelled(const base::Error& error);

}  // namespace hopscope::jobs
