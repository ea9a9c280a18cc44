#pragma once

// The open document: the model, the current plan and the plans for comparison, and the runs. Its parts, except the log
// of a run in progress, are immutable and replaced as a whole. Only jobs::Workbench changes it, except that the window
// clears a refusal that the user dismisses.

#include <QObject>
#include <QString>
#include <QStringList>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/settings.h"
#include "models/breakpoints.h"
#include "models/search_index.h"
#include "protocol/model.h"
#include "protocol/plan.h"
#include "protocol/run.h"

namespace hopscope::models {

class RunLog;

using ModelPtr = std::shared_ptr<const protocol::ModelRecord>;
using PartsPtr = std::shared_ptr<const ModelParts>;
using PlanPtr = std::shared_ptr<const protocol::PlanRecord>;
using ExplanationPtr = std::shared_ptr<const schema::Explanation>;

// A user's settings of plans and runs, cuts included. Session files store them.
struct Settings : base::Settings {
    std::vector<plan::Pin> pins;
    QString output;                       // the output folder; empty: outputs are not kept
    std::vector<Breakpoint> breakpoints;  // of this model
    bool operator==(const Settings&) const = default;
};

// A suggested fix for a refused change: the same change, but without one of the earlier pins, or with more stages.
struct Repair {
    std::optional<plan::Pin> dropped;  // none: `wanted` has the suggested number of stages
    Settings wanted;
    bool operator==(const Repair&) const = default;
};

inline constexpr double provenGap = 1e-4;  // smaller relative differences of costs are rounding

// Tells whether the engine is still looking for a better plan than the current one.
enum class Search { Over, GoesOn };

// The effect of dropping the dragged value at its current position.
struct Preview {
    PlanPtr plan;     // null: not known, or refused
    QString refusal;  // why it would be refused; empty if it would not be
    bool operator==(const Preview&) const = default;
};

// The explanation of the plan, computed on request.
struct Explained {
    ExplanationPtr explanation;  // null: not requested, pending, or not available
    QString problem;             // the reason why it is not available
};

// The fastest plan found under a memory limit, or without one. It always has a prediction.
struct FrontPoint {
    PlanPtr plan;
    std::optional<qint64> memory;  // the limit under which it was found; none: no limit
};

// The known plans to choose from; models/front.h selects the Pareto-optimal ones.
struct Front {
    std::vector<FrontPoint> points;
    bool complete = false;
};

// A finished run, either of this window or from an opened report.
struct FinishedRun {
    QString title;  // "run 2: optimal, batch 600", or the name of the report's file
    std::shared_ptr<const schema::Report> report;
    std::shared_ptr<const RunLog> log;  // null: opened from a report or a session
    QString reportText;
};

class Document : public QObject {
    Q_OBJECT
public:
    explicit Document(QObject* parent = nullptr);
    ~Document() override;

    [[nodiscard]] const ModelPtr& model() const { return m_model; }  // null: nothing is open
    [[nodiscard]] const PartsPtr& parts() const { return m_parts; }  // of the model; null: nothing is open
    [[nodiscard]] const PlanPtr& plan() const { return m_plan; }     // null: cannot be split, or not known yet
    [[nodiscard]] bool searching() const { return m_search == Search::GoesOn; }
    // Returns the plan of a strategy without pins, for comparison; null until it is known, or if there is none.
    [[nodiscard]] PlanPtr reference(base::Strategy strategy) const;
    [[nodiscard]] const Settings& settings() const { return m_settings; }
    [[nodiscard]] const QString& modelPath() const { return m_modelPath; }
    [[nodiscard]] const QStringList& data() const { return m_data; }
    [[nodiscard]] const QStringList& roles() const { return m_roles; }
    [[nodiscard]] const std::shared_ptr<RunLog>& runLog() const
    {
        return m_runLog;
    }  // of the current run or the last one
    [[nodiscard]] const std::vector<FinishedRun>& runs() const { return m_runs; }
    [[nodiscard]] const schema::Report* lastReport() const  // null: no run has finished
    {
        return m_runs.empty() ? nullptr : m_runs.back().report.get();
    }
    [[nodiscard]] const QString& refusal() const
    {
        return m_refusal;
    }  // why the last change was refused; empty if it was not

    [[nodiscard]] const std::vector<Repair>& repairs() const { return m_repairs; }
    [[nodiscard]] const Preview& preview() const { return m_preview; }
    [[nodiscard]] const Explained& explained() const { return m_explained; }  // of the plan
    [[nodiscard]] const Front& front() const { return m_front; }              // of the model

    void setSource(QString model, QStringList data, QStringList roles);
    // Sets the model and clears all but the source and the settings. Computes the parts if they are not given, which is
    // slow for large models.
    void setModel(ModelPtr model, PartsPtr parts = {});
    void setPlan(PlanPtr plan, Search search = Search::Over);  // clears its explanation
    void setReference(base::Strategy strategy, PlanPtr plan);
    void setSettings(const Settings& settings);
    void setRefusal(const QString& sentence);      // clears the repairs
    void setRepairs(std::vector<Repair> repairs);  // of the refusal
    void setPreview(const Preview& preview);
    void setExplained(const Explained& explained);
    void setFront(const Front& front);
    void setRunLog(std::shared_ptr<RunLog> log);
    void addRun(FinishedRun run);

signals:
    void modelChanged();
    void planChanged();  // plan or references
    void settingsChanged();
    void previewChanged();
    void explainedChanged();
    void frontChanged();
    void refusalChanged(const QString& sentence);  // or its repairs
    void runChanged();                             // a different run log
    void runsChanged();                            // the list of finished runs

private:
    ModelPtr m_model;
    PartsPtr m_parts;
    PlanPtr m_plan;
    Search m_search = Search::Over;
    std::map<base::Strategy, PlanPtr> m_references;
    Settings m_settings;
    QString m_modelPath, m_refusal;
    std::vector<Repair> m_repairs;
    Preview m_preview;
    Explained m_explained;
    Front m_front;
    QStringList m_data, m_roles;
    std::shared_ptr<RunLog> m_runLog;
    std::vector<FinishedRun> m_runs;
};

}  // namespace hopscope::models
