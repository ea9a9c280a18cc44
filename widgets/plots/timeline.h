#pragma once

// Shows the lanes of the pipeline over time: the prologue and one lane per phase. On a GPU, several batches are
// processed at once, each in a different lane. Lanes of copies appear with the first copy. The timeline paints exact
// bars while there are few, with the numbers of their batches if there is room, otherwise the share of busy time in
// each pixel. The batch under the pointer is marked wherever bars are painted.

#include <array>
#include <optional>

#include "plots/painted_lane.h"
#include "plots/time_view.h"

namespace hopscope::plots {

class Timeline : public TimeView {
    Q_OBJECT
public:
    explicit Timeline(QWidget* parent = nullptr);

    void append(int phase, const Interval& interval);           // call refresh() afterwards
    void setPrologue(double seconds);                           // from the start of the run; 0: no lane
    [[nodiscard]] QRect prologueRect(const QSize& size) const;  // of its visible part; empty if there is none
    void clear();
    [[nodiscard]] QString describe(const QPoint& at) const override;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;
    [[nodiscard]] QString figureTitle() const override;
    void paintFigure(QPainter& painter, const QSize& size) override;
    [[nodiscard]] QString csv() const override;

protected:
    [[nodiscard]] QRect lanesRect(const QSize& size) const override;
    [[nodiscard]] protocol::StageId stageAt(const QPoint& at) const override;
    void pointAt(const QPoint& at) override;
    void pointAtNothing() override { pointAt(nullptr); }

private:
    [[nodiscard]] QRect laneRect(const QRect& lanes, int phase) const;
    [[nodiscard]] bool isShown(int phase) const;
    [[nodiscard]] int rowOf(int phase) const;
    [[nodiscard]] int rows() const { return rowOf(protocol::phaseCount); }
    [[nodiscard]] const Interval* intervalAt(const QPoint& at, int* phase = nullptr) const;
    void paintLane(QPainter& painter, const QRect& rect, int phase);
    void paintBars(QPainter& painter, const QRect& rect, int phase) const;
    void pointAt(const Interval* interval);
    [[nodiscard]] bool pointedAt(const Interval& interval) const;

    std::array<PaintedLane, protocol::phaseCount> m_lanes;
    double m_prologue = 0;
    std::optional<Interval> m_pointedAt;  // its batch is marked in all lanes that show bars
};

}  // namespace hopscope::plots
