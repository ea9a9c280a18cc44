#pragma once

// The lanes of the pipeline over time, the prologue and one per phase: on a GPU several batches are under way at once, each in
// another lane.
// Paints exact bars while they are few, with their batch's number where there is room, else how busy each pixel's time was.
// The batch under the pointer is marked in all lanes; wheel or + and - zoom, drag or arrows move, a double click or 0 shows everything.

#include <QWidget>
#include <array>
#include <optional>

#include "plots/figure.h"
#include "plots/lanes.h"
#include "protocol/run.h"
#include "style/theme.h"

namespace hopscope::plots {

class Timeline : public QWidget, public Figure {
    Q_OBJECT
public:
    explicit Timeline(QWidget* parent = nullptr);

    void append(int phase, const Interval& interval);           // then refresh()
    void setPrologue(double seconds);                           // from the beginning on; 0: no lane
    [[nodiscard]] QRect prologueRect(const QSize& size) const;  // of what is drawn of it; empty: nothing
    void clear();
    void setEnd(double seconds, bool finished);
    void setSelected(protocol::StageId stage);  // an invalid one: none; others are drawn paler
    void setTheme(const style::Theme& theme);
    void refresh();
    void zoom(double from, double to);  // from >= to: everything
    [[nodiscard]] std::pair<double, double> range() const { return {m_from, m_to}; }
    [[nodiscard]] QString describe(const QPoint& at) const;  // what is there; empty: nothing

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;
    [[nodiscard]] QString figureTitle() const override;
    void paintFigure(QPainter& painter, const QSize& size) override;
    [[nodiscard]] QString csv() const override;

signals:
    void stageClicked(hopscope::protocol::StageId stage);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    [[nodiscard]] QRect lanesRect(const QSize& size) const;
    [[nodiscard]] QRect laneRect(const QRect& lanes, int phase) const;
    [[nodiscard]] int rows() const { return protocol::phaseCount + (m_prologue > 0 ? 1 : 0); }
    [[nodiscard]] double momentAt(const QPointF& at) const;  // seconds
    [[nodiscard]] const Interval* intervalAt(const QPoint& at, int* phase = nullptr) const;
    void fit();
    void scaleAround(double moment, double factor);
    void paintLane(QPainter& painter, const QRect& rect, int phase);
    void paintBars(QPainter& painter, const QRect& rect, int phase) const;
    void paintNumber(QPainter& painter, const QRectF& bar, const QColor& colour, const Interval& interval) const;
    void pointAt(const Interval* interval);
    [[nodiscard]] bool pointedAt(const Interval& interval) const;
    void paintCoverage(QPainter& painter, const QRect& rect, int phase);
    void paintAxis(QPainter& painter, const QRect& lanes) const;

    std::array<Lane, protocol::phaseCount> m_lanes;
    std::array<Coverage, protocol::phaseCount> m_coverage;
    std::array<std::size_t, protocol::phaseCount> m_counted{};  // intervals that are in the coverage
    style::Theme m_theme;
    double m_from = 0, m_to = 1, m_end = 0, m_drawnEnd = -1, m_prologue = 0;
    bool m_finished = false, m_following = true, m_drawnFinished = false;
    protocol::StageId m_selected;
    std::optional<Interval> m_pointedAt;  // its batch is marked in all lanes
    QPoint m_pressed;
    double m_pressedFrom = 0;
    bool m_dragging = false;
};

}  // namespace hopscope::plots
