#pragma once

// The time of a run as a flame graph: the run, its stages, modules and operators, each as wide as its share. A click or
// Space selects the target of a frame, a double click or Enter zooms in, Escape or Backspace zooms out; arrow keys move
// between frames.

#include <QWidget>

#include "study/run_profile.h"
#include "style/theme.h"

namespace hopscope::study {

class FlameView : public QWidget {
    Q_OBJECT
public:
    explicit FlameView(QWidget* parent = nullptr);

    void display(RunProfile profile);  // all of it
    void setTheme(const style::Theme& theme);
    void follow(const models::Target& target);  // to the first frame about it, unless the current one is
    void moveTo(int frame);                     // the current one; zooms out where it is not in sight
    void zoomTo(int frame);                     // as wide as the view; the current frame is inside

    [[nodiscard]] const RunProfile& profile() const { return m_profile; }
    [[nodiscard]] int current() const { return m_current; }  // that keys move from; -1: there is none
    [[nodiscard]] int zoomed() const { return m_zoomed; }    // 0: all
    [[nodiscard]] QRectF placeOf(int frame) const;           // empty: not in sight
    [[nodiscard]] QString textOf(int frame) const;           // its label; empty: it is too narrow
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
    [[nodiscard]] bool isInside(int frame, int outer) const;  // or the same
    [[nodiscard]] int frameAt(QPointF at) const;              // -1: none
    [[nodiscard]] int beside(int step) const;                 // of the same level as the current one; -1: none
    [[nodiscard]] int below() const;                          // -1: none
    [[nodiscard]] int rowHeight() const { return fontMetrics().height() + 8; }
    [[nodiscard]] bool zoomOut();  // whether there was more
    void choose(int frame);
    void light(int frame);
    void paintFrame(QPainter& painter, int frame) const;
    void announce();

    RunProfile m_profile;
    int m_current = -1, m_zoomed = 0, m_lit = -1, m_levels = 0;
    style::Theme m_theme;
};

}  // namespace hopscope::study
