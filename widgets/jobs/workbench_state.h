#pragma once

// The state that the parts of a workbench share, and the requests for plans that several of them make.

#include <QUndoStack>

#include "jobs/phases.h"
#include "jobs/workbench.h"

namespace hopscope::jobs {

// Its first four members must outlive it.
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

// {"document": ...}
json::Value documentParams(const WorkbenchState& state);
// `near`: for an optimum, the best plan close to the current one suffices.
json::Value settingParams(const WorkbenchState& state,
                          const base::Settings& settings);  // of the document, with all of them
json::Value planParams(const WorkbenchState& state, const models::Settings& settings, bool near = false);
// The answer is read on another thread, and dropped if `context` is gone by then.
std::int64_t requestPlan(const WorkbenchState& state, const QString& method, json::Value params, QObject* context,
                         Workbench::WhatIf answer);

bool isCancelled(const base::Error& error);

}  // namespace hopscope::jobs
