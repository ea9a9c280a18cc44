#pragma once

// The actions of the window by name, as listed by the menus, the command palette and the overview of keys.

#include <QAction>
#include <QObject>
#include <QVector>
#include <functional>

class QMenu;

namespace hopscope::window {

// The precondition of an action, checked after every change.
enum class Needs {
    Nothing,
    Model,
    Plan,
    IdleRun,
    IdlePausable,
    ActiveRun,
    ActivePausable,
    PausedRun,
    Step,
    Runs,
    RunLog
};

struct ActionSpec {
    const char* name;    // unique object name, "file.open"; its first part is the menu
    QString text;        // with '&'
    QString shortcut{};  // none
    QString tip;         // one sentence
    Needs needs = Needs::Nothing;
    std::function<void()> run;
};

class ActionBook : public QObject {
    Q_OBJECT
public:
    // While a menu or the list of a combo box is open, keys without Ctrl or Alt go to it and trigger no action.
    explicit ActionBook(QWidget* window);
    bool eventFilter(QObject* watched, QEvent* event) override;

    QAction* add(const ActionSpec& spec);
    void addAll(std::initializer_list<ActionSpec> specs);
    void adopt(QAction* action, const QString& group);  // adds an action with a different owner
    [[nodiscard]] QAction* find(const QString& name) const;
    [[nodiscard]] const QVector<QAction*>& all() const { return m_all; }  // in order of creation
    [[nodiscard]] static QString groupOf(const QAction* action);          // "File", like the menu
    void update(const std::function<bool(Needs)>& met);

private:
    struct Entry {
        QAction* action;
        Needs needs;
    };
    QWidget* m_window;
    QVector<QAction*> m_all;
    QVector<Entry> m_entries;
};

// Returns "Open" for "&Open…", as the palette shows it and a screen reader reads it.
QString plainText(const QAction* action);

}  // namespace hopscope::window
