#pragma once

// Looks for plans that trade time for memory. It calls plan/make without a memory limit, and then with ever lower
// limits until it has 12 plans or a limit is refused. If the refusal names the least limit that suffices, that is the
// last one. The engine handles one request at a time: the search yields to planning, to what-if questions and to
// previews, and resumes afterwards.

#include "jobs/workbench_state.h"

namespace hopscope::jobs {

class FrontSearch {
public:
    explicit FrontSearch(WorkbenchState& state) : m_state(state) {}

    void want(bool wanted);  // true while a visible panel shows the answers
    void resume();           // call after a change, or once a more urgent request has been answered
    void giveUp();           // drops the current request; resume() repeats it
    void forget();           // the rates of the machine have changed: the search begins anew when it resumes
    // Adopts the memory limit of the point, leaves the batch size open, and plans without pins. Undoing it restores
    // the cuts only.
    void use(const models::FrontPoint& point) const;

private:
    void explore();  // starts or resumes, if no request is open, there is a predicted plan, and points are missing
    void begin();
    void askNext();
    void answered(const models::Settings& settings, const base::Result<protocol::PlanRecord>& plan);
    void askBelow(const models::Settings& settings, const protocol::Prediction& predicted);
    void askLeast(const models::Settings& settings, const base::Error& refusal);

    WorkbenchState& m_state;
    std::optional<models::Settings> m_next;  // the next request
    models::Settings m_settings;             // the settings of the points, without a limit
    bool m_least = false;                    // the next point is the last
    const void* m_model = nullptr;
    std::int64_t m_request = 0;  // 0: none is pending
    std::int64_t m_number = 0;   // of the latest attempt; answers to earlier ones are dropped
    bool m_wanted = false;
};

}  // namespace hopscope::jobs
