#pragma once

// The panels around the graph. Each shows models::Document and follows models::Selection; changes that the user wants are
// made through signals or jobs::Workbench.

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
    // The engine whose devices the run panel offers (its answer to `initialize`); null: "auto" and "cpu".
    jobs::EngineClient* engine = nullptr;
};

class Panel : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;
    virtual void setTheme(const style::Theme& theme) = 0;

signals:
    // The number of findings in the panel, shown in its tab.
    void findingsChanged(int count);
};

// Object names: "inspector", "plan", "why", "tradeOff", "outline", "problems", "run", "plots", "log", "history".
Panel* makeInspector(const Context& context, QWidget* parent);
Panel* makePlanPanel(const Context& context, QWidget* parent);
Panel* makeWhy(const Context& context, QWidget* parent);       // costs and savings of the plan's decisions
Panel* makeTradeOff(const Context& context, QWidget* parent);  // plans that trade time for memory
Panel* makeOutline(const Context& context, QWidget* parent);
Panel* makeProblems(const Context& context, QWidget* parent);
Panel* makeRunPanel(const Context& context, QWidget* parent);  // controls, progress, plots, timeline, verdict
Panel* makeRunPlots(const Context& context, QWidget* parent);  // time per stage, memory, throughput; "plots"
Panel* makeLog(const Context& context, QWidget* parent);
Panel* makeHistory(const Context& context, QWidget* parent);  // of the cuts

// A dialog with the rates of the chosen device; a click measures them.
void showMachine(const Context& context, QWidget* parent);
// A dialog with the settings that have no other place in the window.
void showMoreSettings(const Context& context, QWidget* parent);

// Tables and plots of the document as text, for files. `what`: "ops", "checkpoints", "stages", "batches", "phases".
QString exportCsv(const models::Document& document, const QString& what);
// The last run as Chrome trace JSON.
QByteArray exportTrace(const models::Document& document);
// The plots of the run panel, visible or not, by the suffix of the file: svg, pdf, png, csv. Empty, or the error.
QString exportPlots(QWidget& plots, const QString& file);

}  // namespace hopscope::panels
