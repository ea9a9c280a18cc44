#include "study/monitor/flame_view.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "style/words.h"

namespace hopscope::study {

namespace {

constexpr qreal gap = 1, least = 0.3;  // least: narrower frames are not drawn
constexpr int textMargin = 4;

}  // namespace

FlameView::FlameView(QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("monitorFlame"));
    setAccessibleName(tr("Time of the run by stages, modules and operators"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
}

QSize FlameView::minimumSizeHint() const { return {180, std::max(1, m_levels) * rowHeight()}; }

void FlameView::display(RunProfile profile)
{
    m_profile = std::move(profile);
    m_zoomed = m_levels = 0;
    m_lit = m_current = -1;
    for (const ProfileFrame& frame : m_profile.frames()) m_levels = std::max(m_levels, frame.level + 1);
    setMinimumHeight(minimumSizeHint().height());
    announce();
    moveTo(0);
    update();
}

void FlameView::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    update();
}

bool FlameView::isInside(int frame, int outer) const
{
    while (frame > outer) frame = at(frame).parent;  // parents come before their children
    return frame == outer;
}

// The zoomed frame and its ancestors are as wide as the view.
QRectF FlameView::placeOf(int frame) const
{
    if (frame < 0 || frame >= count()) return {};
    const ProfileFrame &shown = at(frame), &all = at(m_zoomed);
    const qreal top = static_cast<qreal>(shown.level) * rowHeight(), height = rowHeight() - gap;
    if (isInside(m_zoomed, frame)) return {0, top, static_cast<qreal>(width()), height};
    if (!isInside(frame, m_zoomed) || all.seconds <= 0) return {};
    const qreal scale = width() / all.seconds;
    return {(shown.begin - all.begin) * scale, top, shown.seconds * scale, height};
}

QString FlameView::textOf(int frame) const
{
    return style::fitting(fontMetrics(), at(frame).name, static_cast<int>(placeOf(frame).width()) - 2 * textMargin);
}

int FlameView::frameAt(QPointF place) const
{
    for (int frame = 0; frame < count(); ++frame)
        if (placeOf(frame).contains(place)) return frame;
    return -1;
}

void FlameView::moveTo(int frame)
{
    if (frame < 0 || frame >= count()) return;
    if (!isInside(frame, m_zoomed) && !isInside(m_zoomed, frame)) m_zoomed = 0;
    m_current = frame;
    announce();
    emit moved(placeOf(frame).toAlignedRect());
    update();
}

void FlameView::zoomTo(int frame)
{
    if (frame < 0 || frame >= count() || at(frame).seconds <= 0) return;
    m_zoomed = frame;
    m_lit = -1;
    moveTo(isInside(m_current, frame) ? m_current : frame);
}

bool FlameView::zoomOut()
{
    if (m_zoomed == 0) return false;
    const int inner = m_zoomed;
    m_zoomed = at(inner).parent;
    moveTo(inner);
    return true;
}

void FlameView::follow(const models::Target& target)
{
    if (m_current >= 0 && at(m_current).row >= 0 &&
        m_profile.isAbout(m_profile.rows()[static_cast<std::size_t>(at(m_current).row)], target))
        return;
    if (m_current >= 0 && at(m_current).target == target) return;
    moveTo(m_profile.frameOf(target));
}

// The next visible frame on the same level, in order of time, regardless of its parent.
int FlameView::beside(int step) const
{
    int found = -1;
    const ProfileFrame& here = at(m_current);
    for (int frame = 0; frame < count(); ++frame) {
        const ProfileFrame& other = at(frame);
        if (frame == m_current || other.level != here.level || !isInside(frame, m_zoomed)) continue;
        const bool behind = other.begin > here.begin || (other.begin == here.begin && frame > m_current);
        if (behind != (step > 0)) continue;
        const bool nearer = found < 0 || (step > 0 ? other.begin < at(found).begin : other.begin >= at(found).begin);
        if (nearer) found = frame;
    }
    return found;
}

// The frame that took longest.
int FlameView::below() const
{
    if (isInside(m_zoomed, m_current) && m_zoomed != m_current) {
        int frame = m_zoomed;
        while (at(frame).parent != m_current) frame = at(frame).parent;
        return frame;
    }
    int found = -1;
    for (int frame = m_current + 1; frame < count(); ++frame)
        if (at(frame).parent == m_current && (found < 0 || at(frame).seconds > at(found).seconds)) found = frame;
    return found;
}

void FlameView::choose(int frame)
{
    if (frame >= 0 && at(frame).target.kind != models::Target::Kind::None) emit chosen(at(frame).target);
}

void FlameView::light(int frame)
{
    if (frame == m_lit) return;
    m_lit = frame;
    setCursor(frame < 0 ? Qt::ArrowCursor : Qt::PointingHandCursor);
    update();
}

void FlameView::announce() { style::announce(*this, m_current < 0 ? QString() : m_profile.sentence(m_current)); }

void FlameView::paintEvent(QPaintEvent*)
{
    if (m_theme.kinds.isEmpty()) return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    for (int frame = 0; frame < count(); ++frame) paintFrame(painter, frame);
    painter.setBrush(Qt::NoBrush);
    if (m_lit >= 0) {
        painter.setPen(QPen(m_theme.text, 1));
        painter.drawRect(placeOf(m_lit).adjusted(0.5, 0.5, -0.5, -0.5));
    }
    if (m_current < 0) return;
    QRectF place = placeOf(m_current);
    place.setWidth(std::max(place.width(), 3.0));  // where it is too narrow to be seen
    painter.setPen(QPen(m_theme.accent, hasFocus() ? 2.4 : 1.2));
    painter.drawRect(place.adjusted(1, 1, -1, -1));
}

// A frame has the colour of its stage in the graph; frames without a stage or operator are as grey as the background.
void FlameView::paintFrame(QPainter& painter, int frame) const
{
    const ProfileFrame& shown = at(frame);
    QRectF place = placeOf(frame);
    if (place.width() < least) return;
    const bool plain = !shown.stage.valid() || (shown.row >= 0 && shown.target.kind != models::Target::Kind::Op);
    const qsizetype colour = shown.stage.valid() ? (shown.stage.number - 1) % m_theme.kinds.size() : 0;
    place.setWidth(std::max(place.width() - gap, std::min(place.width(), gap)));
    painter.fillRect(place, plain ? m_theme.raised : m_theme.kinds[colour]);
    if (plain && place.width() > 2 * gap) {
        painter.setPen(m_theme.border);
        painter.drawRect(place.adjusted(0.5, 0.5, -0.5, -0.5));
    }
    const QString text = textOf(frame);
    if (text.isEmpty()) return;
    painter.setPen(plain ? m_theme.text : m_theme.kindsText[colour]);
    painter.drawText(place.adjusted(textMargin, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, text);
}

void FlameView::mouseMoveEvent(QMouseEvent* event) { light(frameAt(event->position())); }

void FlameView::leaveEvent(QEvent*) { light(-1); }

void FlameView::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton) return;
    const int frame = frameAt(event->position());
    moveTo(frame);
    choose(frame);
}

void FlameView::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton) zoomTo(frameAt(event->position()));
}

void FlameView::keyPressEvent(QKeyEvent* event)
{
    if (m_current < 0) return QWidget::keyPressEvent(event);
    switch (event->key()) {
    case Qt::Key_Left: return moveTo(beside(-1));
    case Qt::Key_Right: return moveTo(beside(1));
    case Qt::Key_Up: return moveTo(at(m_current).parent);
    case Qt::Key_Down: return moveTo(below());
    case Qt::Key_Space: return choose(m_current);
    case Qt::Key_Return:
    case Qt::Key_Enter: return zoomTo(m_current);
    case Qt::Key_Escape:
    case Qt::Key_Backspace:
        if (zoomOut()) return;
        [[fallthrough]];
    default: QWidget::keyPressEvent(event);
    }
}

bool FlameView::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int frame = frameAt(help->pos());
    if (frame < 0) QToolTip::hideText();
    else QToolTip::showText(help->globalPos(), m_profile.sentence(frame), this);
    return true;
}

}  // namespace hopscope::study
