#pragma once

// Shows a run: controls, progress, pipeline or workers, stages, verdict and earlier runs.

#include <QBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QTabWidget>
#include <QTableView>

#include "models/run_model.h"
#include "panels/panels.h"
#include "panels/parts.h"
#include "panels/run_controls.h"
#include "panels/run_feed.h"
#include "panels/stage_progress.h"
#include "panels/verdict_card.h"
#include "panels/worker_part.h"
#include "plots/frame_clock.h"

namespace hopscope::panels {

// Returns the state of the run: "Stage 2 of 3 · 193,228 of 244,902 rows · 120,000 rows/s · 430 ms left in this stage,
// about 3.00 s in all".
QString progressText(const models::RunLog& log, const protocol::PlanRecord* plan = nullptr,
                     const schema::Report* report = nullptr);
// Returns the time left for the whole run: the rest of this stage at its current rate, and the later stages as
// predicted, scaled by the ratio observed so far. None if unknown.
std::optional<double> runSecondsLeft(const models::RunLog& log, const protocol::PlanRecord& plan);

// Returns "run 1 · 38 ms · Equal: 2,708 of 2,708 rows, largest difference 3e-07".
QString resultText(const models::FinishedRun& run);

class RunPanel : public Panel {
    Q_OBJECT
public:
    RunPanel(const Context& context, QWidget* parent);
    void setTheme(const style::Theme& theme) override;

protected:
    void showEvent(QShowEvent* event) override;

private:
    void setupHeader(QBoxLayout& layout);
    void setupBody(QBoxLayout& layout);
    QWidget* setupLanes();
    void setupRuns();
    void setupConnections();
    void watch();
    [[nodiscard]] const schema::Report* reportOf(const models::RunLog* log) const;  // null: not finished
    void draw();
    void drawLanes();
    void showRuns();
    void showTitle();
    void showMissing();
    void runEnded();
    void showFailure(const QString& what, const QString& sentence, const QString& hint);
    void follow(const models::Target& target);

    Context m_context;
    ElidedLabel *m_title, *m_result, *m_missing, *m_status;
    QProgressBar* m_progress;
    RunControls* m_controls;
    QWidget* m_pipeline;  // for a run of one process; otherwise the workers are shown instead
    plots::Timeline* m_timeline;
    WorkerPart* m_workers;
    StageProgressList* m_stages;
    VerdictCard* m_verdict;
    QTableView* m_runTable;
    QTabWidget* m_tabs;
    models::RunModel m_runs;
    PhaseFeed m_feed;
    plots::FrameClock m_clock;
    QMetaObject::Connection m_updates;
    style::Theme m_theme;
};

}  // namespace hopscope::panels
