#pragma once

// Time per stage, stacked by phase; one run, or two side by side.

#include <QWidget>
#include <array>
#include <memory>
#include <vector>

#include "plots/figure.h"
#include "protocol/run.h"
#include "style/theme.h"

namespace hopscope::plots {

struct StageStack {
    int stage = 1;
    std::array<double, protocol::phaseCount> phases{};  // seconds
    double seconds = 0;                                 // of the stage; phases may overlap or leave gaps
};

struct StageRun {
    QString title;
    std::vector<StageStack> stages;
};

// "block build", "gather", "H2D", ... in the order of schema::namedPhases.
QString phaseTitle(int phase);
// The sum of a stack's phases.
double phaseSum(const StageStack& stack);

class StageBars : public QWidget, public Figure {
    Q_OBJECT
public:
    explicit StageBars(QWidget* parent = nullptr);
    ~StageBars() override;

    void setRuns(std::vector<StageRun> runs);  // at most two; the second one is drawn paler
    [[nodiscard]] const std::vector<StageRun>& runs() const;
    void setSelected(int stage);  // 0: none
    void setTheme(const style::Theme& theme);
    [[nodiscard]] QRect barRect(int stage) const;  // where a stage is drawn, in this widget; empty: nowhere

    [[nodiscard]] QString figureTitle() const override;
    void paintFigure(QPainter& painter, const QSize& size) override;
    [[nodiscard]] const Legend* figureLegend() const override;
    [[nodiscard]] QString csv() const override;

signals:
    void stageClicked(int stage);
    void stageHovered(int stage);  // 0: none

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace hopscope::plots
