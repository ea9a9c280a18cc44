#pragma once

// Shows the workers of a distributed run: their lanes, their number, and which workers wait for which.

#include <QElapsedTimer>
#include <QLabel>
#include <QTimer>

#include "models/document.h"
#include "panels/parts.h"
#include "plots/worker_lanes.h"

namespace hopscope::panels {

class WorkerPart : public QWidget {
    Q_OBJECT
public:
    explicit WorkerPart(QWidget* parent);
    void display(const std::shared_ptr<const models::RunLog>& log);  // a run with workers
    void setTheme(const style::Theme& theme);
    [[nodiscard]] plots::WorkerLanes& lanes() { return *m_lanes; }

private:
    void tick();
    void sayChoice(const QString& text);

    ElidedLabel *m_summary, *m_waits, *m_choice;
    plots::Legend* m_legend;
    plots::WorkerLanes* m_lanes;
    std::vector<plots::LegendItem> m_items;  // of the legend
    std::shared_ptr<const models::RunLog> m_log;
    double m_told = 0;      // the time of its last event
    QElapsedTimer m_since;  // since that event
    QTimer m_timer;         // a shard may take long without any event
};

}  // namespace hopscope::panels
