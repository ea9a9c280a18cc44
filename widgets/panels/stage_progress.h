#pragma once

// Shows one line per stage with its progress, time and memory.

#include <QGridLayout>
#include <QLabel>
#include <QProgressBar>
#include <QWidget>
#include <vector>

#include "models/document.h"
#include "models/run_log.h"

namespace hopscope::panels {

// Returns "6.3 s, predicted 5.9 s · peak 1.1 MiB, predicted 1.2 MiB", "79 % · 2.4 s" or "waiting". Further lines give
// the phase it waits for, the distance from the bound once there is a report, and for a GPU stage "copies hidden behind
// computing: 92 %".
QString stageStatus(const models::StageProgress* stage, const protocol::PredictedStage* predicted,
                    const schema::StageRecord* record = nullptr);
// Names the phase that takes most of the time: "waits for block building (62 %)", "computes (91 %)"; empty if none
// stands out.
QString waitText(const models::StageProgress& stage);
// Describes the longest stage, once all have ended: "stage 2 waits for block building (62 %)".
QString longestStageText(const models::RunLog& log);
int stagePercent(const models::StageProgress& stage);

class StageProgressList : public QWidget {
    Q_OBJECT
public:
    explicit StageProgressList(QWidget* parent = nullptr);
    void show(const models::RunLog* log, const protocol::PlanRecord* plan, const schema::Report* report = nullptr);
    void setSelected(protocol::StageId stage);

signals:
    void stageClicked(hopscope::protocol::StageId stage);

protected:
    void mouseReleaseEvent(QMouseEvent* event) override;

private:
    struct Line {
        QLabel* name;
        QProgressBar* bar;
        QLabel* status;
    };
    void setCount(int count);
    void fill(int line, const models::RunLog* log, const protocol::PlanRecord* plan, const schema::Report* report);

    QGridLayout* m_grid;
    std::vector<Line> m_lines;
};

}  // namespace hopscope::panels
