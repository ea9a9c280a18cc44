#include "study/animation/animation_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace hopscope::study {

namespace {

constexpr int tickMilliseconds = 33;
constexpr qreal reach = 16;  // of the pointer, around a node

}  // namespace

AnimationView::AnimationView(QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("animationView"));
    setAccessibleName(tr("Animation of the batches"));
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Expanding);
    m_timer.setInterval(tickMilliseconds);
    connect(&m_timer, &QTimer::timeout, this, &AnimationView::tick);
}

void AnimationView::display(ShowPtr show, int frame)
{
    play(false);
    m_show = std::move(show);
    m_frame = -1;
    go(frame);
    update();
}

void AnimationView::go(int frame)
{
    if (!m_show) return;
    frame = std::clamp(frame, 0, frames() - 1);
    m_since.restart();
    if (frame == m_frame) return;
    m_frame = frame;
    setAccessibleDescription(frameTitle(m_show->film(), frame) + QStringLiteral(". ") +
                             frameCaption(m_show->film(), frame));
    update();
    emit frameShown(frame);
}

void AnimationView::play(bool playing)
{
    playing = playing && m_show;
    if (playing == m_timer.isActive()) return;
    if (playing) {
        if (m_frame + 1 == frames()) go(0);
        m_since.restart();
        m_timer.start();
    } else {
        m_timer.stop();
        update();
    }
    emit playingChanged(playing);
}

void AnimationView::setSpeed(double speed) { m_speed = speed; }

int AnimationView::milliseconds() const { return static_cast<int>(std::lround(frameMilliseconds / m_speed)); }

void AnimationView::tick()
{
    if (m_since.elapsed() < milliseconds()) {
        if (!m_reduced && m_show->animation.frames[static_cast<std::size_t>(m_frame)].moment == Moment::Gather)
            update();
        return;
    }
    if (m_frame + 1 == frames()) return play(false);
    go(m_frame + 1);
}

void AnimationView::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    update();
}

FilmPicture AnimationView::picture(const Film& film, bool words) const
{
    return {.film = film, .places = m_show->places, .theme = m_theme, .font = font(), .words = words};
}

void AnimationView::paintEvent(QPaintEvent*)
{
    if (!m_show) return;
    QPainter painter(this);
    const Film film = m_show->film();
    const bool moves = m_timer.isActive() && !m_reduced;
    const qreal progress = moves ? std::min(1.0, static_cast<qreal>(m_since.elapsed()) / milliseconds()) : 0.5;
    paintFrame(painter, QRectF(rect()), picture(film, false), m_frame, progress);
    if (!hasFocus()) return;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(m_theme.accent, 1.4));
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);
}

void AnimationView::keyPressEvent(QKeyEvent* event)
{
    const auto step = [this](int frame) {
        play(false);
        go(frame);
    };
    switch (event->key()) {
    case Qt::Key_Space: return play(!playing());
    case Qt::Key_Left: return step(m_frame - 1);
    case Qt::Key_Right: return step(m_frame + 1);
    case Qt::Key_Home: return step(0);
    case Qt::Key_End: return step(frames() - 1);
    default: QWidget::keyPressEvent(event);
    }
}

bool AnimationView::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip && m_show) {
        const auto* help = static_cast<QHelpEvent*>(event);
        showTip(help->pos(), help->globalPos());
        return true;
    }
    return QWidget::event(event);
}

void AnimationView::showTip(const QPoint& at, const QPoint& global)
{
    const Film film = m_show->film();
    for (std::size_t node = 0; node < m_show->places.size(); ++node) {
        const QPointF apart = nodePlace(QRectF(rect()), picture(film, false), m_frame, node) - at;
        if (std::hypot(apart.x(), apart.y()) > reach) continue;
        const DrawnNode& drawn = m_show->animation.nodes[node];
        const std::string& table = m_show->part.tables[static_cast<std::size_t>(drawn.table)].label;
        return QToolTip::showText(global, tr("%1 %2").arg(QString::fromStdString(table)).arg(drawn.id), this);
    }
    QToolTip::hideText();
}

// Pauses while hidden, and continues from the same frame.
void AnimationView::hideEvent(QHideEvent* event)
{
    play(false);
    QWidget::hideEvent(event);
}

}  // namespace hopscope::study
