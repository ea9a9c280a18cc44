#pragma once

// Shows lanes over a common time axis, with a visible range. The wheel or + and - zoom, dragging or arrow keys move,
// and a double click or 0 shows everything, which during a run is the time so far. Derived classes define the contents
// of the lanes.

#include <QPainter>
#include <QWidget>

#include "plots/figure.h"
#include "protocol/run.h"
#include "style/theme.h"

namespace hopscope::plots {

inline constexpr int laneGap = 4;   // pixels between lanes
inline constexpr int textGap = 10;  // pixels after their names

// Returns the rectangle of a lane, one of `rows` of equal height, each at most one line of text thick.
QRect rowRect(const QRect& lanes, int row, int rows, int text);
// Paints an empty lane with its name before it.
void paintName(QPainter& painter, const QRect& lane, const QString& name, const style::Theme& theme);
QColor faded(QColor colour, double alpha);

class TimeView : public QWidget, public Figure {
    Q_OBJECT
public:
    explicit TimeView(QWidget* parent);

    void setEnd(double seconds, bool finished);
    void setSelected(protocol::StageId stage);  // invalid: none; other stages are drawn paler
    void setTheme(const style::Theme& theme);
    void refresh();                     // shows all changes
    void zoom(double from, double to);  // from >= to: shows everything
    [[nodiscard]] std::pair<double, double> range() const { return {m_from, m_to}; }
    [[nodiscard]] virtual QString describe(const QPoint& at) const = 0;  // the text for a point; empty if there is none

signals:
    void stageClicked(hopscope::protocol::StageId stage);

protected:
    // Returns the rectangle of the lanes, which leaves room below it for the axis.
    [[nodiscard]] virtual QRect lanesRect(const QSize& size) const = 0;
    [[nodiscard]] virtual protocol::StageId stageAt(const QPoint& at) const = 0;  // invalid: none
    virtual void pointAt(const QPoint& /*at*/) {}
    virtual void pointAtNothing() {}

    void showAllAgain();
    [[nodiscard]] double momentAt(const QPointF& at) const;  // seconds
    [[nodiscard]] double placeOf(double seconds, const QRect& lanes) const;
    void paintAxis(QPainter& painter, const QRect& lanes) const;
    [[nodiscard]] const style::Theme& theme() const { return m_theme; }
    [[nodiscard]] protocol::StageId selected() const { return m_selected; }
    [[nodiscard]] double end() const { return m_end; }

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
    void fit();
    void scaleAround(double moment, double factor);

    style::Theme m_theme;
    double m_from = 0, m_to = 1, m_end = 0, m_drawnEnd = -1;
    bool m_finished = false, m_following = true, m_drawnFinished = false;
    protocol::StageId m_selected;
    QPoint m_pressed;
    double m_pressedFrom = 0;
    bool m_dragging = false;
};

}  // namespace hopscope::plots
