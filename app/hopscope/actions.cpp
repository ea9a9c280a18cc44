#include "actions.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QKeyEvent>
#include <QKeySequence>
#include <QWidget>

namespace hopscope::window {

namespace {

constexpr const char* groupProperty = "group";

// Enter presses the button that has the focus, as it does in dialogs.
bool pressedByEnter(QObject* watched, const QKeyEvent& key)
{
    if (key.key() != Qt::Key_Return && key.key() != Qt::Key_Enter) return false;
    auto* button = qobject_cast<QAbstractButton*>(watched);
    if (button == nullptr || !button->isEnabled() || qobject_cast<QDialog*>(button->window())) return false;
    button->click();
    return true;
}

}  // namespace

ActionBook::ActionBook(QWidget* window) : QObject(window), m_window(window) { qApp->installEventFilter(this); }

// An open popup handles its keys itself. The list of a combo box takes Enter by this very event; Space chooses as well.
bool ActionBook::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::KeyPress && pressedByEnter(watched, *static_cast<QKeyEvent*>(event))) return true;
    const QWidget* const popup = QApplication::activePopupWidget();
    if (event->type() != QEvent::ShortcutOverride || popup == nullptr) return QObject::eventFilter(watched, event);
    auto* key = static_cast<QKeyEvent*>(event);
    if (key->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) return false;
    key->accept();
    const auto* combo = qobject_cast<const QComboBox*>(popup->parentWidget());
    if (combo == nullptr) return true;
    if (key->key() != Qt::Key_Space) return false;
    QKeyEvent enter(QEvent::ShortcutOverride, Qt::Key_Return, Qt::NoModifier);
    QCoreApplication::sendEvent(combo->view(), &enter);
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
    // An action that belongs to a widget stays there, so that its keys act nowhere else.
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
