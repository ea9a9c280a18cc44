#pragma once

// Shows the memory of a batch over time. The upper part shows the bytes at each step, the lower part each value from
// the step that computes it to its last use. A click, Enter or Space selects a value; arrow keys move between values,
// and Home moves to the largest one at the peak.

#include <QWidget>

#include "schema/stage_memory.h"
#include "style/theme.h"

namespace hopscope::study {

class MemoryPicture : public QWidget {
    Q_OBJECT
public:
    explicit MemoryPicture(QWidget* parent = nullptr);
    void display(schema::LoopMemoryRecord loop);
    void setTheme(const style::Theme& theme);
    void moveTo(int held);                  // makes it current; -1: none
    void follow(const std::string& value);  // moves to the first entry of the value, unless the current one is one
    [[nodiscard]] const schema::LoopMemoryRecord& loop() const { return m_loop; }
    [[nodiscard]] int current() const { return m_current; }
    [[nodiscard]] QRectF placeOf(int held) const;            // in the widget's coordinates
    [[nodiscard]] QRectF columnOf(std::int64_t step) const;  // in the upper chart
    [[nodiscard]] QString textOf(int held) const;            // its label; empty if it is too narrow
    [[nodiscard]] QSize sizeHint() const override { return minimumSizeHint(); }
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void chosen(int held);
    void moved(QRect place);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] const schema::HeldRows& at(int held) const { return m_loop.held[static_cast<std::size_t>(held)]; }
    [[nodiscard]] int count() const { return static_cast<int>(m_loop.held.size()); }
    [[nodiscard]] double stepWidth() const;
    [[nodiscard]] int laneHeight() const { return fontMetrics().height() + 8; }
    [[nodiscard]] int chartHeight() const { return 4 * fontMetrics().height(); }
    [[nodiscard]] int top() const { return fontMetrics().height() + 6 + chartHeight() + 8; }  // of the lanes
    [[nodiscard]] int heldAt(QPointF place) const;                                            // -1: none
    [[nodiscard]] int largestAtPeak() const;
    [[nodiscard]] int besideLane(int direction) const;  // the current one if there is none
    void light(int held);
    void announce();
    void paintChart(QPainter& painter) const;
    void paintHeld(QPainter& painter, int held) const;

    schema::LoopMemoryRecord m_loop;
    std::vector<int> m_lanes;
    std::int64_t m_largest = 1;  // bytes of an entry
    int m_current = -1, m_lit = -1, m_laneCount = 0;
    style::Theme m_theme;
};

}  // namespace hopscope::study
