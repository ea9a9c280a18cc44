#pragma once

// The run under way: starts it, steers it, and reads what the engine tells of it into the document.

#include "jobs/workbench_state.h"
#include "models/run_log.h"
#include "protocol/run.h"

namespace hopscope::jobs {

class RunControl {
public:
    explicit RunControl(WorkbenchState& state) : m_state(state) {}

    // `stepping`: it can be stopped at operators even without breakpoints; it runs on the CPU then, and nothing is fused.
    void start(bool paused,
               bool stepping = false);  // the plan of now; nothing while there is none, or while a run is under way
    void pause();
    void resume();
    void step(protocol::RunStep unit);  // begins a run if none is under way
    void stop();
    void settingsChanged();  // of the document: another set of breakpoints goes to the run under way
    [[nodiscard]] bool running() const { return m_phase != RunPhase::Idle; }
    [[nodiscard]] std::optional<std::int64_t> latest() const { return m_latest; }

    void notified(const QString& method, const json::Value& params);
    void engineDied(const QString& reason) { end(models::RunEnd::Failed, reason); }

private:
    void eventsCame(const json::Value& params);
    void finished(const json::Value& params);
    void answered(const base::Result<json::Value>& result);
    void end(models::RunEnd how, const QString& remark);
    void control(const QString& method, json::Value params);
    [[nodiscard]] int nextNumber() const;
    void keep(const protocol::RunFinished& finished);

    WorkbenchState& m_state;
    RunPhase m_phase = RunPhase::Idle;
    std::optional<std::int64_t> m_run, m_latest;    // the engine's numbers
    std::vector<models::Breakpoint> m_sent;         // that the run under way has
    bool m_steppable = false;                       // the run under way can be stopped at operators
    std::optional<protocol::RunStep> m_stepWanted;  // before the run had its number
    std::shared_ptr<models::RunLog> m_log;
};

}  // namespace hopscope::jobs
