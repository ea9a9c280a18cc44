#pragma once

// Defines all actions of the window, their menus, and when they are enabled.

#include <QActionGroup>
#include <QMenuBar>

#include "actions.h"
#include "exporter.h"
#include "session_control.h"

namespace hopscope::window {

class WindowActions : public QObject {
    Q_OBJECT
public:
    WindowActions(const WindowParts& parts, SessionControl& sessions, FileDialogs& dialogs, Exporter& exporter);

    [[nodiscard]] const ActionBook& book() const { return m_book; }
    [[nodiscard]] QList<QAction*> perspectives() const { return m_perspectives.actions(); }
    void refresh();  // enables the actions that make sense now
    void applyIcons(const style::Theme& theme);

signals:
    void themeChosen(hopscope::style::Mode mode);
    void lessonChosen(const QString& id);  // one of study::bundledLessons()
    void lessonFileChosen(const QString& file);
    void lessonPageWanted(const QString& file);

private:
    void addPerspectives();
    void addPanels();
    void addAppearance();
    void addThemes();
    void addLessons(FileDialogs& dialogs);
    void addHelp();
    void setupMenus();
    void fillMenu(const QString& group, const QString& title);
    static QMenu& submenuOf(QMenu& menu, const QAction& action);
    void addRecentMenu(QMenu& menu);
    void setReducedMotion(bool reduced);

    const WindowParts& m_parts;
    SessionControl& m_sessions;
    ActionBook m_book;
    QActionGroup m_perspectives;
};

}  // namespace hopscope::window
