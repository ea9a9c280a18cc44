#pragma once

// Plots a run: time per stage, device memory, throughput and batch size; live, or of a finished run, alone or compared
// with another one.

#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>

#include "panels/panels.h"
#include "panels/run_feed.h"
#include "plots/frame_clock.h"

namespace hopscope::panels {

class RunPlots : public Panel {
    Q_OBJECT
public:
    RunPlots(const Context& context, QWidget* parent);
    void setTheme(const style::Theme& theme) override;
    [[nodiscard]] QList<plots::Figure*> figures() const;  // of the current run; empty if there is none
    void bringUpToDate();  // draws hidden plots for a file; otherwise they are drawn when they are shown

protected:
    void showEvent(QShowEvent* event) override;

private:
    void setupHeader(QBoxLayout& layout);
    void setupPlots(QBoxLayout& layout);
    void setupConnections();
    void fillRuns();  // the two lists
    void watch();     // the log of the current run
    void draw();      // one frame
    void drawBars();
    void drawCurves(const models::RunLog* log);
    void showCurves(const models::RunLog* log);
    void drawOther();
    void follow(const models::Target& target);
    void chooseFile();
    [[nodiscard]] const models::FinishedRun* chosen(const QComboBox& box) const;
    [[nodiscard]] const models::FinishedRun* chosenOther() const;
    [[nodiscard]] std::shared_ptr<const models::RunLog> shownLog() const;

    Context m_context;
    QComboBox *m_shown, *m_other;
    QPushButton* m_open;
    QWidget* m_header;
    QLabel *m_empty, *m_dealt;  // m_dealt: why a run with several workers has no curves
    QWidget* m_content;
    QScrollArea* m_area;
    plots::StageBars* m_bars;
    plots::TimePlot *m_memory, *m_rate, *m_size;
    std::unique_ptr<BatchFeed> m_feed;
    plots::FrameClock m_clock;
    QMetaObject::Connection m_updates;
    double m_openEnd = 0;
    int m_barFrames = 0;
    std::size_t m_runCount = 0;
};

}  // namespace hopscope::panels
