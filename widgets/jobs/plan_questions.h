#pragma once

// Read-only questions about plans: the effect of a pin or a drag, and the reasons of the plan. The engine does one
// thing at a time: the explanation yields to requests that the user waits for, and is repeated after them.

#include <QTimer>

#include "jobs/cuts.h"
#include "jobs/front_search.h"
#include "jobs/workbench_state.h"

namespace hopscope::jobs {

class PlanQuestions {
public:
    explicit PlanQuestions(WorkbenchState& state);

    void whatIf(const std::vector<plan::Pin>& pins, QObject* context, Workbench::WhatIf answer);

    // While a stored value is dragged: the latest question counts, at most one is under way.
    void preview(Cuts wanted);
    void endPreview();
    // The document's preview for these cuts; null: not known yet.
    [[nodiscard]] models::PlanPtr previewed(const Cuts& cuts) const;

    // Asked once for each final plan.
    void explain();
    [[nodiscard]] FrontSearch& front() { return m_front; }
    // Another plan is being made: pending answers are about an old one and are dropped. A preview continues.
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
    std::int64_t m_preview = 0;   // 0: none under way
    QTimer m_pause;               // between two questions
    ExplainPhase m_explaining = ExplainPhase::Idle;
    std::int64_t m_explanation = 0;  // while it is pending
};

}  // namespace hopscope::jobs
