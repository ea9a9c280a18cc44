#pragma once

// Shows the time of a run as a flame graph: the run, its stages, modules and operators, each as wide as its share. A
// click or Space selects the target of a frame, a double click or Enter zooms in, Escape or Backspace zooms out; arrow
// keys move between frames.

#include <QWidget>

#include "study/monitor/run_profile.h"
#include "style/theme.h"

namespace hopscope::study {

class FlameView : public QWidget {
    Q_OBJECT
public:
    explicit FlameView(QWidget* parent = nullptr);

    void display(RunProfile profile);  // shows all of it
    void setTheme(const style::Theme& theme);
    void follow(const models::Target& target);  // moves to the first frame of the target, unless the current one is one
    void moveTo(int frame);                     // makes it current; zooms out if it is not in sight
    void zoomTo(int frame);                     // makes it as wide as the view; the current frame is inside

    [[nodiscard]] const RunProfile& profile() const { return m_profile; }
    [[nodiscard]] int current() const { return m_current; }  // where keys move from; -1: none
    [[nodiscard]] int zoomed() const { return m_zoomed; }    // 0: everything is in sight
    [[nodiscard]] QRectF placeOf(int frame) const;           // empty: not in sight
    [[nodiscard]] QString textOf(int frame) const;           // its label; empty if it is too narrow
    [[nodiscard]] QSize sizeHint() const override { return {360, minimumSizeHint().height()}; }
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void chosen(const hopscope::models::Target& target);
    void moved(QRect place);  // of the current frame

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] const ProfileFrame& at(int frame) const
    {
        return m_profile.frames()[static_cast<std::size_t>(frame)];
    }
    [[nodiscard]] int count() const { return static_cast<int>(m_profile.frames().size()); }
    [[nodiscard]] bool isInside(int frame, int outer) const;  // or is the same
    [[nodiscard]] int frameAt(QPointF at) const;              // -1: none
    [[nodiscard]] int beside(int step) const;                 // on the level of the current one; -1: none
    [[nodiscard]] int below() const;                          // -1: none
    [[nodiscard]] int rowHeight() const { return fontMetrics().height() + 8; }
    [[nodiscard]] bool zoomOut();  // returns true if there was more to show
    void choose(int frame);
    void light(int frame);
    void paintFrame(QPainter& painter, int frame) const;
    void announce();

    RunProfile m_profile;
    int m_current = -1, m_zoomed = 0, m_lit = -1, m_levels = 0;
    style::Theme m_theme;
};

}  // namespace hopscope::study
