#pragma once

// Questions about plans that change nothing: what a pin or a drag would give, why the plan is as it is. The engine does one
// thing at a time: the explanation makes way for what somebody is waiting for, and is asked for again after that.

#include <QTimer>

#include "jobs/cuts.h"
#include "jobs/front_search.h"
#include "jobs/workbench_state.h"

namespace hopscope::jobs {

class PlanQuestions {
public:
    explicit PlanQuestions(WorkbenchState& state);

    void whatIf(const std::vector<plan::Pin>& pins, QObject* context, Workbench::WhatIf answer);

    // While a checkpoint is dragged: the latest question counts, at most one is under way.
    void preview(Cuts wanted);
    void endPreview();
    // What the document's preview says of these cuts; null: nothing yet.
    [[nodiscard]] models::PlanPtr previewed(const Cuts& cuts) const;

    // Asked once for a plan that is final.
    void explain();
    [[nodiscard]] FrontSearch& front() { return m_front; }
    // Another plan is asked for: answers to come are about one that is gone. A preview goes on.
    void giveUp();

private:
    void askPreview();
    void previewAnswered(const base::Result<protocol::PlanRecord>& plan);
    void explanationRead(const base::Result<protocol::Explanation>& explanation);
    void forgetExplanation();
    void postponeExplanation();
    void resumeExplanation();

    WorkbenchState& m_state;
    FrontSearch m_front{m_state};
    std::int64_t m_whatIf = 0;  // requests; 0: none yet
    std::optional<Cuts> m_wanted;
    std::optional<Cuts> m_asked;  // what the document's preview answers, or will
    std::int64_t m_preview = 0;   // 0: none under way
    QTimer m_pause;               // between two questions
    ExplainPhase m_explaining = ExplainPhase::Idle;
    std::int64_t m_explanation = 0;  // while it is asked for
};

}  // namespace hopscope::jobs
