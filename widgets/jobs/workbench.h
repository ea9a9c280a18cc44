#pragma once

// Turns user actions into engine requests: open, plan, pin, run. Only it changes models::Document, except that the
// window clears a refusal that the user dismisses. The user's changes of the cuts are commands on the undo stack. Late
// answers are dropped.

#include <QObject>
#include <QStringList>
#include <QUndoStack>
#include <memory>

#include "jobs/engine_client.h"
#include "jobs/engine_queries.h"
#include "models/document.h"

namespace hopscope::jobs {

class FrontSearch;

class Workbench : public QObject {
    Q_OBJECT
public:
    Workbench(EngineClient& engine, models::Document& document, QObject* parent = nullptr);
    ~Workbench() override;

    [[nodiscard]] QUndoStack& undoStack() { return m_undo; }
    [[nodiscard]] bool running() const;  // true while a run is active
    [[nodiscard]] bool busy() const;     // true while opening or planning
    [[nodiscard]] EngineQueries& queries();

    void open(const QString& model, const QStringList& data, const QStringList& roles);
    void reload();  // opens the same files again, keeping pins that still fit
    void close();

    // These functions change the cuts. A refused change is undone, and Document::refusal holds the reason.
    // setStrategy() also clears the pins and the number of stages.
    void setStrategy(base::Strategy strategy, base::Objective objective = base::Objective::Time);
    void optimiseAroundPins();  // the optimal strategy with the current pins
    // Replaces a pin that answers the same question. A pin that no rule supports switches to the optimum around pins.
    void pin(const plan::Pin& pin);
    void togglePin(const plan::Pin& pin);                         // sets it, or removes exactly this pin
    void unpin(protocol::ValueId value);                          // removes all pins that mention the value
    void setStages(const std::optional<int>& stages);             // the most for an optimum; none: as few as needed
    void repair(const QString& what, const models::Repair& way);  // fixes Document::refusal; `what` names the undo step
    void movePin(protocol::ValueId from, protocol::ValueId to);   // as one undo step
    void clearPins();
    void setRunSettings(const models::Settings& settings);  // all but the cuts: strategy, objective, pins, stages
    // Finds the plan with other pins, without changing anything. A later question, or a change of the cuts, cancels the
    // previous question. While no engine has the model, no answer arrives: ask again on engineBack(). A model that
    // cannot be split gets no answer either.
    using WhatIf = std::function<void(base::Result<protocol::PlanRecord>)>;
    void whatIf(const std::vector<plan::Pin>& pins, QObject* context, WhatIf answer);
    // Makes Document::preview show the plan for dropping the dragged stored value. Only the latest question counts, and
    // at most one is pending. Dropping the stored value where the last question put it shows the answer at once,
    // if it has arrived.
    void previewMove(protocol::ValueId from, protocol::ValueId to);
    void endPreview();
    // Fills Document::explained, unless it is known or pending, or planning goes on.
    void explain();
    [[nodiscard]] FrontSearch& front();  // for plans that trade time for memory
    void loadPlan(const QString& file);
    void savePlan(const QString& file);
    void openReport(const QString& file);  // report.json of an earlier run; adds it to Document::runs
    void openReport(const QString& title, const QString& text);  // the same, from text

    void startRun(bool paused = false);
    void pause();
    void resume();
    // Runs one unit, then pauses; starts a run if none is active. Stepping by operators fails in a run that was started
    // otherwise and without breakpoints.
    void step(protocol::RunStep unit);
    void stopRun();

    // Plans the same cuts and the references again, after the rates of the machine have changed. A plan that was
    // loaded stays, with the references.
    void planAgain();

    void restoreSettings(const models::Settings& settings);  // from a session file; no undo step

signals:
    void opened();
    void failed(const QString& what, const QString& sentence, const QString& hint);  // `what`: the task
    void progressed(const QString& what, double fraction);                           // negative: unknown
    void runStateChanged();
    void runFinished();
    void engineLost(const QString& reason);
    void engineBack();

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
    QUndoStack m_undo;
};

// The topic of Workbench::failed() for runs.
inline QString runningTopic() { return Workbench::tr("Running"); }

}  // namespace hopscope::jobs
