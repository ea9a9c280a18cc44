#pragma once

// Shows the time per stage, stacked by phase, for one run next to its prediction, or for two runs side by side. A tick
// marks the lower bound of the stage's time on the machine, if it is known.

#include <QWidget>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "plan/figures.h"
#include "plan/walls.h"
#include "plots/figure.h"
#include "protocol/run.h"
#include "style/theme.h"

namespace hopscope::plots {

// The times of a stage. Phases may overlap or leave gaps within its seconds.
struct StageStack : plan::StageFigures {
    protocol::StageId stage{1};
    std::optional<double> predicted{}, bound{};  // seconds
    std::optional<plan::Wall> wall{};            // the largest part of the bound
};

struct StageRun {
    QString title;
    std::vector<StageStack> stages;
};

// Returns "block build", "gather", "H2D", "compute", "D2H" or "write", in the order of plan::namedPhases.
QString phaseTitle(int phase);
// Returns "matrix products", "random rows", "memory bandwidth", "copies to and from the GPU" or "the disk".
QString wallTitle(plan::Wall wall);
// Returns "1.4 × the bound of 85 ms (random rows)"; empty if no bound is known.
QString boundText(double seconds, std::optional<double> bound, std::optional<plan::Wall> wall);

class StageBars : public QWidget, public Figure {
    Q_OBJECT
public:
    explicit StageBars(QWidget* parent = nullptr);
    ~StageBars() override;

    void setRuns(std::vector<StageRun> runs);  // at most two; the second one is drawn paler
    [[nodiscard]] const std::vector<StageRun>& runs() const;
    void setSelected(protocol::StageId stage);  // invalid: none
    void setTheme(const style::Theme& theme);
    [[nodiscard]] QRect barRect(protocol::StageId stage) const;  // of all its bars; empty: none

    [[nodiscard]] QString figureTitle() const override;
    void paintFigure(QPainter& painter, const QSize& size) override;
    [[nodiscard]] const Legend* figureLegend() const override;
    [[nodiscard]] QString csv() const override;

signals:
    void stageClicked(hopscope::protocol::StageId stage);
    void stageHovered(hopscope::protocol::StageId stage);  // invalid: none

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace hopscope::plots
