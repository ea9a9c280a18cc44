#pragma once

// Shows the lanes of the pipeline over time: the prologue and one lane per phase, for each GPU. On a GPU, several batches are
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

    // `device` is the place of a GPU among several, from 0. Call refresh() afterwards.
    void append(int phase, const Interval& interval, int device = 0);
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
    [[nodiscard]] static int phaseOf(int lane) { return lane % protocol::phaseCount; }
    [[nodiscard]] int lanes() const { return static_cast<int>(m_lanes.size()); }
    [[nodiscard]] QString titleOf(int lane) const;
    [[nodiscard]] QRect laneRect(const QRect& lanes, int lane) const;
    [[nodiscard]] bool isShown(int lane) const;
    [[nodiscard]] int rowOf(int lane) const;
    [[nodiscard]] int rows() const { return rowOf(lanes()); }
    [[nodiscard]] const Interval* intervalAt(const QPoint& at, int* lane = nullptr) const;
    void paintLane(QPainter& painter, const QRect& rect, int lane);
    void paintBars(QPainter& painter, const QRect& rect, int lane) const;
    void pointAt(const Interval* interval);
    [[nodiscard]] bool pointedAt(const Interval& interval) const;

    std::vector<PaintedLane> m_lanes;  // of the phases, GPU by GPU
    double m_prologue = 0;
    std::optional<Interval> m_pointedAt;  // its batch is marked in all lanes that show bars
};

}  // namespace hopscope::plots
