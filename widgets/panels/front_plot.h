#pragma once

// Plots time against device memory: one point per plan, the current plan marked, the memory limit as a line. A click or
// Enter chooses a point; arrow keys move between the points.

#include <QWidget>

#include "models/front.h"
#include "style/theme.h"

namespace hopscope::panels {

class FrontPlot : public QWidget {
    Q_OBJECT
public:
    explicit FrontPlot(QWidget* parent = nullptr);
    // Sets the contents. `now` is the current plan, even if it is not among the points, or null; `limit` is the limit
    // of device memory, if any.
    void display(std::vector<models::FrontRow> rows, models::PlanPtr now, std::optional<qint64> limit);
    void setTheme(const style::Theme& theme);
    [[nodiscard]] QSize sizeHint() const override { return {320, 210}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {160, 170}; }
    // These positions are in the widget's coordinates. No line crosses a label; empty if there is no label.
    [[nodiscard]] QPointF placeOf(int row) const;
    [[nodiscard]] QRectF limitLabel() const;
    [[nodiscard]] QRectF nowLabel() const;
    [[nodiscard]] QList<QLineF> lines() const;

signals:
    void chosen(int row);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    // The range of an axis, from its first to its last number, on a logarithmic scale.
    struct Range {
        double first = 1, last = 1;
        [[nodiscard]] double share(double value) const;
        [[nodiscard]] double at(double share) const;
    };
    void setRanges();
    [[nodiscard]] QRectF room() const;
    [[nodiscard]] QPointF place(const protocol::Prediction& predicted) const;
    [[nodiscard]] QPolygonF curve() const;
    [[nodiscard]] QList<QRectF> taken() const;  // the areas of the points
    [[nodiscard]] bool limitShown() const;
    [[nodiscard]] qreal limitX() const;
    [[nodiscard]] QString limitText() const;
    [[nodiscard]] QString nowText() const { return tr("your plan"); }
    [[nodiscard]] int rowAt(QPointF at) const;  // -1: none
    void light(int row);
    void paintAxes(QPainter& painter) const;
    void paintLimit(QPainter& painter) const;
    void paintCurve(QPainter& painter) const;
    void paintPoint(QPainter& painter, int row) const;
    void paintNow(QPainter& painter) const;

    std::vector<models::FrontRow> m_rows;
    models::PlanPtr m_now;
    std::optional<qint64> m_limit;
    Range m_memory, m_time;
    int m_lit = -1;
    style::Theme m_theme;
};

}  // namespace hopscope::panels
