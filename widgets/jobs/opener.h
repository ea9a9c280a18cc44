#pragma once

// Opens and closes models in the engine: a new model, the same files again, or the same model in a restarted engine.

#include "jobs/planner.h"
#include "jobs/run_control.h"

namespace hopscope::jobs {

// The files that a model is opened from.
struct SourceFiles {
    QString model;
    QStringList data, roles;
};

// A parsed answer of model/open.
struct OpenedModel {
    std::int64_t document = 0;
    models::ModelPtr model;
    models::PartsPtr parts;
};

enum class Opening { New, Reload, Recover };  // Recover: the engine was restarted, the document is unchanged

class Opener {
public:
    Opener(WorkbenchState& state, Planner& planner, PlanQuestions& questions, RunControl& runs);

    void open(const SourceFiles& files, Opening kind);  // at the user's request
    void close();
    [[nodiscard]] bool opening() const { return m_attempt.has_value(); }
    // Stores settings to apply once the model is open.
    void restoreLater(const models::Settings& settings);
    [[nodiscard]] bool isRequest(std::int64_t request) const { return m_attempt && request == m_attempt->request; }
    void engineDied(const QString& reason);  // reopens the model that was open or being opened
    void engineState(EngineState state);

private:
    struct Attempt {
        SourceFiles files;
        Opening kind = Opening::New;
        std::int64_t request = 0;
        base::Settings settings{};
    };

    void start(const SourceFiles& files, Opening kind);
    void answered(std::int64_t number, base::Result<json::Value> result);
    void opened(OpenedModel what);
    void failed(const base::Error& error);
    void show(const Attempt& attempt, OpenedModel what);
    void recovered(const OpenedModel& what);
    void closeInEngine();

    WorkbenchState& m_state;
    Planner& m_planner;
    PlanQuestions& m_questions;
    RunControl& m_runs;
    std::optional<Attempt> m_attempt;  // the current one
    std::int64_t m_number = 0;         // of the latest attempt; older answers are dropped
    std::optional<models::Settings> m_restored;
    int m_lost = 0;  // how often the engine has died while opening it
};

}  // namespace hopscope::jobs
