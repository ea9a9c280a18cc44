#pragma once

// Looks for plans that trade time for memory: what plan/make answers without a limit of memory and for falling limits, down to
// the one that is refused. The engine does one thing at a time: the search makes way for everything else and goes on
// afterwards.

#include "jobs/workbench_state.h"

namespace hopscope::jobs {

class FrontSearch {
public:
    explicit FrontSearch(WorkbenchState& state) : m_state(state) {}

    void want(bool wanted);  // while somebody sees the answers
    void resume();           // if it is wanted: after a change, or once what it made way for is answered
    void giveUp();           // what is under way is asked for again by resume()
    void forget();           // the machine is known better: all again
    void use(const models::FrontPoint& point) const;  // its cuts can be undone

private:
    void explore();  // begins, or goes on; nothing while something is under way or all is known
    void begin();
    void askNext();
    void answered(const models::Settings& settings, const base::Result<protocol::PlanRecord>& plan);
    void askBelow(const models::Settings& settings, const protocol::Prediction& predicted);
    void askLeast(const models::Settings& settings, const base::Error& refusal);

    WorkbenchState& m_state;
    std::optional<models::Settings> m_next;  // to be asked
    models::Settings m_settings;             // that the points are for, without a limit
    bool m_least = false;                    // the next point is the last
    const void* m_model = nullptr;
    std::int64_t m_request = 0;  // 0: none under way
    std::int64_t m_number = 0;   // of attempts: answers to those that were given up are dropped
    bool m_wanted = false;
};

}  // namespace hopscope::jobs
