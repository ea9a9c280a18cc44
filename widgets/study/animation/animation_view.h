#pragma once

// Shows the picture of the animation in the window; keys control it while it has the focus.

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

#include "study/animation/animation_picture.h"

namespace hopscope::study {

// Owns all parts of an animation.
struct Show {
    std::shared_ptr<const protocol::ModelRecord> model;
    std::shared_ptr<const protocol::PlanRecord> plan;
    schema::GraphPart part;
    Animation animation;
    std::vector<QPointF> places;
    [[nodiscard]] Film film() const { return {animation, *model, *plan, part}; }
};
using ShowPtr = std::shared_ptr<const Show>;

class AnimationView : public QWidget {
    Q_OBJECT
public:
    explicit AnimationView(QWidget* parent);

    void display(ShowPtr show, int frame);                        // null: shows nothing; stops
    void go(int frame);                                           // stops at the ends
    void play(bool playing);                                      // starts again from the beginning at the end
    void setSpeed(double speed);                                  // 1: each frame is shown for frameMilliseconds
    void setReducedMotion(bool reduced) { m_reduced = reduced; }  // frames change without motion
    void setTheme(const style::Theme& theme);

    [[nodiscard]] int frame() const { return m_frame; }
    [[nodiscard]] int frames() const { return m_show ? static_cast<int>(m_show->animation.frames.size()) : 0; }
    [[nodiscard]] bool playing() const { return m_timer.isActive(); }
    [[nodiscard]] int milliseconds() const;
    [[nodiscard]] FilmPicture picture(const Film& film, bool words) const;
    [[nodiscard]] QSize sizeHint() const override { return {480, 420}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {240, 260}; }

    static constexpr int frameMilliseconds = 1800;

signals:
    void frameShown(int frame);
    void playingChanged(bool playing);

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void tick();
    void showTip(const QPoint& at, const QPoint& global);

    ShowPtr m_show;
    style::Theme m_theme;
    QTimer m_timer;
    QElapsedTimer m_since;  // since the frame was shown
    int m_frame = 0;
    double m_speed = 1;
    bool m_reduced = false;
};

}  // namespace hopscope::study
