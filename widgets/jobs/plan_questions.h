#pragma once

// Read-only questions about plans: the effect of a pin or a drag, and the reasons for the plan. The engine handles one
// request at a time: the explanation yields to requests that the user waits for, and is repeated after them.

#include <QTimer>

#include "jobs/cuts.h"
#include "jobs/front_search.h"
#include "jobs/workbench_state.h"

namespace hopscope::jobs {

class PlanQuestions {
public:
    explicit PlanQuestions(WorkbenchState& state);

    void whatIf(const std::vector<plan::Pin>& pins, QObject* context, Workbench::WhatIf answer);

    // Updates the preview while a stored value is dragged. Only the latest question counts, and at most one is pending.
    void preview(Cuts wanted);
    void endPreview();
    // Returns the document's preview for these cuts; null if it is not known yet.
    [[nodiscard]] models::PlanPtr previewed(const Cuts& cuts) const;

    // Asks for the explanation, once for each final plan.
    void explain();
    [[nodiscard]] FrontSearch& front() { return m_front; }
    // Drops pending answers, which concern an old plan, because another plan is being made. A preview continues.
    void giveUp();

private:
    void askPreview();
    void previewAnswered(const base::Result<protocol::PlanRecord>& plan);
    void explanationRead(const base::Result<schema::Explanation>& explanation);
    void forgetExplanation();
    void postponeExplanation();
    void resumeExplanation();

    WorkbenchState& m_state;
    FrontSearch m_front{m_state};
    std::int64_t m_whatIf = 0;  // requests; 0: none yet
    std::optional<Cuts> m_wanted;
    std::optional<Cuts> m_asked;  // the cuts of the document's preview, answered or pending
    std::int64_t m_preview = 0;   // 0: none is pending
    QTimer m_pause;               // between two questions
    ExplainPhase m_explaining = ExplainPhase::Idle;
    std::int64_t m_explanation = 0;  // while it is pending
};

}  // namespace hopscope::jobs
