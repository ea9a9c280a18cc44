#include "help.h"

#include <QApplication>
#include <QKeyEvent>

namespace hopscope::window {

namespace {

constexpr const char* tour = "start/window.md";

}  // namespace

std::span<const Topic> topics()
{
    static const Topic all[] = {
        {"startPage", tour, "opening-a-model"},
        {"openDialog", tour, "opening-a-model"},
        {"lessonPane", tour, "lessons"},
        {"graph", tour, "graph"},
        {"dock.outline", tour, "outline"},
        {"dock.inspector", tour, "inspector"},
        {"dock.plan", tour, "plan"},
        {"dock.why", tour, "why"},
        {"dock.tradeOff", tour, "trade-off"},
        {"dock.history", tour, "history"},
        {"dock.problems", tour, "problems"},
        {"refusalCard", tour, "problems"},
        {"dock.run", tour, "run"},
        {"machineDialog", tour, "machine"},
        {"moreSettings", "reference/settings.md", ""},
        {"dock.plots", tour, "plots"},
        {"dock.log", tour, "log"},
        {"dock.monitor", tour, "monitor"},
        {"dock.receptive", tour, "receptive-field"},
        {"dock.rules", tour, "rules"},
        {"dock.animation", tour, "animation"},
        {"dock.debugger", tour, "debugger"},
        {"dock.tensor", tour, "tensor"},
        {"dock.breakpoints", tour, "breakpoints"},
        {"dock.follow", tour, "follow-a-node"},
        {"exportDialog", "guides/exporting.md", ""},
        {"exportRecord", "guides/exporting.md", ""},
    };
    return all;
}

manual::Place topicOf(const QWidget* widget)
{
    for (; widget != nullptr; widget = widget->parentWidget())
        for (const Topic& topic : topics())
            if (widget->objectName() == QLatin1String(topic.part))
                return {QLatin1String(topic.page), QLatin1String(topic.heading)};
    return {manual::contents().first().page, {}};
}

Help::Help(QObject* parent) : QObject(parent) { qApp->installEventFilter(this); }

Help::~Help() = default;

void Help::open(const manual::Place& place)
{
    if (!m_window) {
        m_window = std::make_unique<manual::ManualWindow>();
        m_window->setTheme(m_theme);
    }
    m_window->openAt(place);
}

void Help::openForFocus() { open(topicOf(QApplication::focusWidget())); }

void Help::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    if (m_window) m_window->setTheme(theme);
}

bool Help::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() != QEvent::KeyPress || static_cast<QKeyEvent*>(event)->key() != Qt::Key_F1) return false;
    const auto* widget = qobject_cast<const QWidget*>(watched);
    const auto* dialog = widget != nullptr ? qobject_cast<const QDialog*>(widget->window()) : nullptr;
    if (dialog == nullptr || dialog == m_window.get()) return false;
    open(topicOf(widget));
    return true;
}

}  // namespace hopscope::window
