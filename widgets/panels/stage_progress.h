#pragma once

// One line per stage: how far it is, how long it took, what it held.

#include <QGridLayout>
#include <QLabel>
#include <QProgressBar>
#include <QWidget>
#include <vector>

#include "models/document.h"
#include "models/run_log.h"

namespace hopscope::panels {

// "6.3 s · peak 1.1 MiB, predicted 1.2 MiB", "79 % · 2.4 s", "waiting"; of a GPU's finished
// stage, in a second line, "copies hidden behind computing: 92 %"
QString stageStatus(const models::StageProgress* stage, const protocol::PredictedStage* predicted);
// What else a GPU's stage has to say, a sentence a line; empty on a CPU.
QString stageDetails(const models::StageProgress* stage);
int stagePercent(const models::StageProgress& stage);

class StageProgressList : public QWidget {
    Q_OBJECT
public:
    explicit StageProgressList(QWidget* parent = nullptr);
    void show(const models::RunLog* log, const protocol::PlanRecord* plan);
    void setSelected(protocol::StageId stage);

signals:
    void stageClicked(int stage);

protected:
    void mouseReleaseEvent(QMouseEvent* event) override;

private:
    struct Line {
        QLabel* name;
        QProgressBar* bar;
        QLabel* status;
    };
    void setCount(int count);
    void fill(int line, const models::RunLog* log, const protocol::PlanRecord* plan);

    QGridLayout* m_grid;
    std::vector<Line> m_lines;
};

}  // namespace hopscope::panels
