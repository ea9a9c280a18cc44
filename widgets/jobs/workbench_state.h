#pragma once

// What a workbench keeps between requests. Split over workbench_open, _plan and _run by what it does.

#include <QTimer>

#include "jobs/cuts.h"
#include "jobs/workbench.h"
#include "models/run_log.h"
#include "protocol/model.h"
#include "protocol/plan.h"
#include "protocol/run.h"

namespace hopscope::jobs {

// What a model is opened from.
struct SourceFiles {
    QString model;
    QStringList data, roles;
};

// An answer of model/open, read.
struct OpenedModel {
    std::int64_t document = 0;
    models::ModelPtr model;
    models::PartsPtr parts;
};

enum class Opening { New, Reload, Recover };  // Recover: the engine is new, the document is not

struct Workbench::Impl {
    Workbench& bench;
    EngineClient& engine;
    models::Document& document;

    Impl(Workbench& workbench, EngineClient& client, models::Document& open)
        : bench(workbench),
          engine(client),
          document(open)
    {}

    // Opening.
    std::optional<std::int64_t> engineDocument;  // the engine's number of what is open; none while it is lost
    std::int64_t openNumber = 0;                 // of the latest attempt; older answers are dropped
    std::int64_t openRequest = 0;                // for progress
    bool opening = false;
    Opening openingKind = Opening::New;
    SourceFiles openingFiles;
    std::optional<models::Settings> restored;  // to apply when what is being opened is there
    int lostWhileOpening = 0;

    // Planning.
    std::int64_t planNumber = 0;
    std::int64_t planRequest = 0;  // under way while planning: for progress, and to give it up
    std::int64_t quickRequest = 0, whatIfRequest = 0;
    bool planning = false, refusing = false;
    bool provisional = false;      // the plan that is shown is a quick one
    bool slow = false;             // planning has told of its progress
    models::Settings accepted;     // those of the plan that is shown
    models::Settings plannedFor;   // while planning
    models::PlanPtr exact;         // the loaded plan that is shown, if any
    CutCommand* newest = nullptr;  // the top of the stack until its answer has come

    // What is being dragged: one question at a time, the latest counts.
    std::optional<Cuts> wanted, asked;  // asked: what the document's preview answers, or will
    std::int64_t previewRequest = 0;    // 0: none under way
    QTimer previewPause;

    // Why the plan is as it is.
    std::int64_t explainRequest = 0;  // 0: none under way
    bool explainAgain = false;        // it was given up for something more urgent

    // Running.
    std::optional<std::int64_t> run, lastRun;  // lastRun: whose results can be peeked
    bool starting = false;
    bool stopWanted = false;  // Stop was asked for before the run had its number
    QString stepWanted;       // so was a step
    std::shared_ptr<models::RunLog> log;
    int runCount = 0;

    // workbench_open.cpp
    void open(SourceFiles files, Opening kind);
    void openAnswered(std::int64_t number, SourceFiles files, Opening kind, base::Result<json::Value> result);
    void opened(SourceFiles files, Opening kind, OpenedModel what);
    void openFailed(const base::Error& error);
    void closeInEngine();
    void engineState(EngineState state);
    void engineDied(const QString& reason);
    void recovered(OpenedModel what);

    // workbench_plan.cpp
    void push(const QString& text, Cuts after);
    void apply(const Cuts& cuts);
    void plan();
    void giveUpPlan();
    void planQuickly(const models::Settings& settings);
    [[nodiscard]] bool onlyPinsDiffer(const models::Settings& settings) const;
    void planAnswered(const models::Settings& settings, base::Result<protocol::PlanRecord> plan);
    void refuse(const base::Error& error);
    void askForRepairs(const models::Settings& refused);
    void references();
    void reference(base::Strategy strategy);
    [[nodiscard]] Cuts cuts() const;
    [[nodiscard]] json::Value planParams(const models::Settings& settings, bool near = false) const;
    std::int64_t requestPlan(const QString& method, json::Value params, QObject* context, Workbench::WhatIf answer);

    // workbench_ask.cpp
    void setupPreview();
    void preview();
    void previewAnswered(const base::Result<protocol::PlanRecord>& plan);
    void forgetPreview();
    void explain();
    void explainAnswered(const base::Result<protocol::Explanation>& explanation);
    void forgetExplanation();
    void postponeExplanation();
    void resumeExplanation();

    // workbench_run.cpp
    void notified(const QString& method, const json::Value& params);
    void events(const json::Value& params);
    void finished(const json::Value& params);
    void runAnswered(const base::Result<json::Value>& result);
    void runEnded();
    void control(const QString& method, json::Value params);
    void addRun(const protocol::RunFinished& finished);

    void fail(const QString& what, const base::Error& error);
};

// Reads an answer of model/open; may run on any thread.
base::Result<OpenedModel> readOpened(const json::Value& result);

}  // namespace hopscope::jobs
