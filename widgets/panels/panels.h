#pragma once

// The panels around the graph. They show models::Document and models::Selection, and request changes through signals or
// jobs::Workbench.

#include <QWidget>
#include <memory>

#include "jobs/workbench.h"
#include "models/document.h"
#include "models/selection.h"
#include "style/theme.h"

namespace hopscope::panels {

struct Context {
    models::Document& document;
    models::Selection& selection;
    jobs::Workbench& workbench;
    // The engine whose devices the run panel offers (from its answer to `initialize`); null: only "auto" and "cpu".
    jobs::EngineClient* engine = nullptr;
};

class Panel : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;
    virtual void setTheme(const style::Theme& theme) = 0;

signals:
    // Reports the number of findings in the panel; its tab shows the number.
    void findingsChanged(int count);
};

// These functions create the panels. Object names: "inspector", "plan", "why", "tradeOff", "outline", "problems",
// "run", "plots", "log", "history".
Panel* makeInspector(const Context& context, QWidget* parent);
Panel* makePlanPanel(const Context& context, QWidget* parent);
Panel* makeWhy(const Context& context, QWidget* parent);       // the plan's decisions, and the rules' plans
Panel* makeTradeOff(const Context& context, QWidget* parent);  // plans that trade time for memory
Panel* makeOutline(const Context& context, QWidget* parent);
Panel* makeProblems(const Context& context, QWidget* parent);
Panel* makeRunPanel(const Context& context, QWidget* parent);  // controls, progress, lanes, stages, verdict, runs
Panel* makeRunPlots(const Context& context, QWidget* parent);  // time per stage, memory, throughput, batch sizes
Panel* makeLog(const Context& context, QWidget* parent);
Panel* makeHistory(const Context& context, QWidget* parent);  // the history of the cuts

// Opens a dialog with the rates of the chosen device, which a button measures.
void showMachine(const Context& context, QWidget* parent);
// Opens a dialog with the settings that appear nowhere else in the window.
void showMoreSettings(const Context& context, QWidget* parent);

// Returns a table of the document as CSV; empty if there is none. `what` is "ops", "checkpoints", "stages", "batches" or
// "phases".
QString exportCsv(const models::Document& document, const QString& what);
// Returns the current run, or the last one, as Chrome trace JSON; empty if there has been none.
QByteArray exportTrace(const models::Document& document);
// Writes the plots of makeRunPlots(), visible or not, in the format of the suffix: svg, pdf, png or csv. Returns an
// empty string, or the error.
QString exportPlots(QWidget& plots, const QString& file);

}  // namespace hopscope::panels
