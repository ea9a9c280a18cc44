#include "actions.h"

#include <QApplication>
#include <QKeyEvent>
#include <QKeySequence>
#include <QWidget>

namespace hopscope::window {

namespace {

constexpr const char* groupProperty = "group";

}  // namespace

ActionBook::ActionBook(QWidget* window) : QObject(window), m_window(window) { qApp->installEventFilter(this); }

bool ActionBook::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() != QEvent::ShortcutOverride || !QApplication::activePopupWidget())
        return QObject::eventFilter(watched, event);
    if (static_cast<QKeyEvent*>(event)->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) return false;
    event->accept();
    return true;
}

QAction* ActionBook::add(const ActionSpec& spec)
{
    auto* action = new QAction(spec.text, m_window);
    action->setObjectName(QLatin1String(spec.name));
    if (!spec.shortcut.isEmpty()) action->setShortcuts(QKeySequence::listFromString(spec.shortcut));
    action->setStatusTip(spec.tip);
    const QString keys = action->shortcut().toString(QKeySequence::NativeText);
    action->setToolTip(keys.isEmpty() ? spec.tip : QStringLiteral("%1 (%2)").arg(spec.tip, keys));
    QString group = QString::fromLatin1(spec.name).section(u'.', 0, 0);
    if (!group.isEmpty()) group[0] = group[0].toUpper();
    connect(action, &QAction::triggered, m_window, [run = spec.run] { run(); });
    m_entries.append({action, spec.needs});
    adopt(action, group);
    return action;
}

void ActionBook::addAll(std::initializer_list<ActionSpec> specs)
{
    for (const ActionSpec& spec : specs) add(spec);
}

void ActionBook::adopt(QAction* action, const QString& group)
{
    action->setProperty(groupProperty, group);
    // One with a place of its own keeps to it, so that its keys act nowhere else.
    if (action->associatedObjects().isEmpty()) m_window->addAction(action);
    m_all.append(action);
}

QAction* ActionBook::find(const QString& name) const
{
    for (QAction* action : m_all)
        if (action->objectName() == name) return action;
    return nullptr;
}

QString ActionBook::groupOf(const QAction* action) { return action->property(groupProperty).toString(); }

void ActionBook::update(const std::function<bool(Needs)>& met)
{
    for (const Entry& entry : m_entries) entry.action->setEnabled(entry.needs == Needs::Nothing || met(entry.needs));
}

QString plainText(const QAction* action)
{
    QString text = action->text();
    text.remove(u'&');
    text.remove(u'…');
    return text.trimmed();
}

}  // namespace hopscope::window
