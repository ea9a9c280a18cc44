#pragma once

// Plans the current cuts: requests the plan, shows quick plans until it arrives, each better than the last, undoes
// refused cuts and requests repairs, and keeps the plans for comparison. The user's changes of the cuts are commands on
// the undo stack.

#include "jobs/plan_questions.h"

namespace hopscope::jobs {

class Planner {
public:
    Planner(WorkbenchState& state, PlanQuestions& questions) : m_state(state), m_questions(questions) {}

    [[nodiscard]] Cuts cuts() const;
    void push(const QString& text, Cuts after);             // as an undo step; does nothing without a model or a change
    void begin(const models::Settings& settings);           // for another model, or none; clears the undo stack
    void setRunSettings(const models::Settings& settings);  // all but the cuts
    void restore(const models::Settings& settings);         // including the cuts; clears the undo stack

    void plan();  // for the current settings
    void giveUp();
    // Holds the search for a better plan than the current one during more urgent questions, and resumes it after them.
    void holdSearch();
    void resumeSearch();
    void engineDied();
    // Repeats all requests for a new engine, unless a loaded plan is shown, which needs none.
    void recover();
    void planAgain();  // including the plans for comparison
    [[nodiscard]] bool planning() const { return isPlanning(m_state.plan); }
    bool progressed(std::int64_t request);  // whether the progress is that of planning

private:
    void search(const models::Settings& settings, std::size_t step);
    bool showBetter(const models::Settings& settings, const protocol::PlanRecord& plan, std::size_t step);
    void apply(const Cuts& cuts);
    void planQuickly(const models::Settings& settings);
    void accept(const models::Settings& settings);
    [[nodiscard]] bool onlyPinsDiffer(const models::Settings& settings) const;
    void planAnswered(const models::Settings& settings, base::Result<protocol::PlanRecord> plan);
    void refuse(const base::Error& error);
    void askForRepairs(const models::Settings& refused);
    [[nodiscard]] std::optional<qint64> comparedBatch() const;  // a loaded plan is compared using its own batch size
    void references();
    void reference(base::Strategy strategy);

    enum class Shown { Final, Quick };

    WorkbenchState& m_state;
    PlanQuestions& m_questions;
    std::int64_t m_number = 0;   // of the latest attempt; answers to older ones are dropped
    std::int64_t m_request = 0;  // while planning: for progress and cancelling
    std::int64_t m_quick = 0;    // 0: none is pending
    Shown m_shown = Shown::Final;
    std::size_t m_step = 0;  // of the current search: selects the time limit of the engine
    bool m_held = false;
    std::optional<qint64> m_comparedBatch;  // of the references
    models::Settings m_accepted;            // those of the current plan
    models::Settings m_plannedFor;          // while planning
    CutCommand* m_newest = nullptr;         // the top of the stack until its answer has arrived
};

}  // namespace hopscope::jobs
