#include "spotlight.h"

#include <QPainter>
#include <QScrollArea>

namespace hopscope::window {

namespace {

constexpr int pulseMilliseconds = 120, margin = 2;

// The visible part of its rectangle in the window, clipped by scroll areas. visibleRegion() excludes child widgets.
QRect placeOf(const QWidget& part, const QWidget& window)
{
    QRect place(part.mapTo(&window, QPoint()), part.size());
    for (const QWidget* around = part.parentWidget(); around && around != &window; around = around->parentWidget())
        place &= QRect(around->mapTo(&window, QPoint()), around->size());
    return place;
}

// Whether it is not hidden behind another tab.
bool inFront(const QWidget& part, const QWidget& window, const QRect& place)
{
    const QWidget* there = window.childAt(place.center());
    return there == &part || part.isAncestorOf(there);
}

}  // namespace

Spotlight::Spotlight(QWidget& window) : QWidget(&window), m_window(window)
{
    setObjectName(QStringLiteral("spotlight"));
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAttribute(Qt::WA_NoSystemBackground);
    setFocusPolicy(Qt::NoFocus);
    m_pulse.setInterval(pulseMilliseconds);
    connect(&m_pulse, &QTimer::timeout, this, &Spotlight::follow);
    hide();
}

void Spotlight::point(const QString& objectName)
{
    m_name = objectName;
    if (m_name.isEmpty()) {
        m_pulse.stop();
        return hide();
    }
    scrollThere();
    m_pulse.start();
    follow();
}

void Spotlight::scrollThere() const
{
    auto* part = m_window.findChild<QWidget*>(m_name);
    for (QWidget* parent = part; parent; parent = parent->parentWidget())
        if (auto* area = qobject_cast<QScrollArea*>(parent); area && area->isAncestorOf(part))
            area->ensureWidgetVisible(part, 0, 0);
}

void Spotlight::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    update();
}

void Spotlight::follow()
{
    const auto* part = m_window.findChild<QWidget*>(m_name);
    const QRect room = part ? placeOf(*part, m_window) : QRect();
    const bool seen = part && part->isVisible() && !room.isEmpty() && inFront(*part, m_window, room);
    setVisible(seen);
    if (!seen) return;
    const QRect frame = room.adjusted(-margin, -margin, margin, margin).intersected(m_window.rect());
    if (frame != geometry()) setGeometry(frame);
    raise();
}

void Spotlight::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(m_theme.accent, 2.5));
    painter.drawRoundedRect(QRectF(rect()).adjusted(1.5, 1.5, -1.5, -1.5), 6, 6);
}

}  // namespace hopscope::window
