#pragma once

// Controls the current run: starts it, steers it, and stores the events that the engine sends about it in the document.

#include "jobs/workbench_state.h"
#include "models/run_log.h"
#include "protocol/run.h"

namespace hopscope::jobs {

class RunControl {
public:
    explicit RunControl(WorkbenchState& state) : m_state(state) {}

    // With `stepping`, the run can be stopped at operators even without breakpoints; it then runs on the CPU, and
    // nothing is fused.
    void start(bool paused,
               bool stepping = false);  // with the current plan; does nothing without one, or while a run is active
    void pause();
    void resume();
    void step(protocol::RunStep unit);  // starts a run if none is active
    void stop();
    void settingsChanged();  // of the document; sends changed breakpoints to the current run
    [[nodiscard]] bool running() const { return m_phase != RunPhase::Idle; }
    [[nodiscard]] std::optional<std::int64_t> latest() const { return m_latest; }

    void notified(const QString& method, const json::Value& params);
    void engineDied(const QString& reason) { end(models::RunEnd::Failed, reason); }

private:
    void eventsCame(const json::Value& params);
    void finished(const json::Value& params);
    void answered(const base::Result<json::Value>& result);
    void end(models::RunEnd how, const QString& remark);
    template <class Members>
    void control(Members query);
    [[nodiscard]] int nextNumber() const;
    void keep(const protocol::RunFinished& finished);

    WorkbenchState& m_state;
    RunPhase m_phase = RunPhase::Idle;
    std::optional<std::int64_t> m_run, m_latest;    // the engine's numbers
    std::vector<models::Breakpoint> m_sent;         // the breakpoints of the current run
    bool m_steppable = false;                       // the current run can be stopped at operators
    std::optional<protocol::RunStep> m_stepWanted;  // a step requested before the run had its number
    std::shared_ptr<models::RunLog> m_log;
};

}  // namespace hopscope::jobs
