#include "window_actions.h"

#include <QMenu>

#include "about.h"
#include "availability.h"
#include "command_palette.h"
#include "file_actions.h"
#include "graphview/view/graph_actions.h"
#include "keys_overview.h"
#include "plan_actions.h"
#include "run_actions.h"
#include "study/animation/animation_panel.h"
#include "study/lessons/lesson.h"
#include "study_actions.h"
#include "style/icon.h"

namespace hopscope::window {

namespace {

study::AnimationPanel& animationOf(const WindowParts& parts)
{
    return *static_cast<study::AnimationPanel*>(parts.docks.dock(QStringLiteral("animation"))->widget());
}

}  // namespace

WindowActions::WindowActions(const WindowParts& parts, SessionControl& sessions, FileDialogs& dialogs,
                             Exporter& exporter)
    : m_parts(parts),
      m_sessions(sessions),
      m_book(&parts.window),
      m_perspectives(nullptr)
{
    addFileActions(m_book, parts, sessions, exporter, dialogs);
    addEditActions(m_book, parts);
    addPerspectives();
    addPanels();
    addAppearance();
    addThemes();
    for (QAction* action : parts.graph.viewActions()) m_book.adopt(action, QStringLiteral("Graph"));
    addPlanActions(m_book, parts, dialogs);
    addRunActions(m_book, parts, dialogs, exporter);
    addStudyActions(m_book, parts, dialogs, exporter);
    addLessons(dialogs);
    addHelp();
    setupMenus();
}

void WindowActions::refresh()
{
    m_book.update([this](Needs needs) { return isMet(needs, m_parts); });
}

void WindowActions::addPerspectives()
{
    int number = 0;
    for (const QString& name : perspectiveNames()) {
        const QByteArray object = "view." + name.toLatin1();
        QAction* action = m_book.add({.name = object.constData(),
                                      .text = perspectiveTitle(name),
                                      .shortcut = QStringLiteral("Ctrl+%1").arg(++number),
                                      .tip = tr("Arrange the panels for this task"),
                                      .needs = Needs::Model,
                                      .run = [this, name] { m_parts.docks.setPerspective(name); }});
        action->setCheckable(true);
        action->setData(name);
        m_perspectives.addAction(action);
        action->setChecked(name == m_parts.docks.perspective());
    }
    connect(&m_parts.docks, &Docks::perspectiveChanged, this, [this](const QString& name) {
        for (QAction* action : m_perspectives.actions()) action->setChecked(action->data() == name);
    });
}

void WindowActions::addPanels()
{
    m_book.add({.name = "view.reset",
                .text = tr("&Reset the Panels"),
                .tip = tr("Restore the default arrangement of the panels"),
                .needs = Needs::Model,
                .run = [this] { m_parts.docks.reset(); }});
    for (QDockWidget* dock : m_parts.docks.all()) {
        const QString name = dock->objectName().section(u'.', 1);
        const QByteArray object = "view.panel." + name.toLatin1();
        m_book.add({.name = object.constData(),
                    .text = tr("Show %1").arg(dock->windowTitle()),
                    .tip = tr("Show this panel and focus it"),
                    .needs = Needs::Model,
                    .run = [this, name] { m_parts.docks.reveal(name); }});
    }
    m_book.add({.name = "view.nextPanel",
                .text = tr("&Next Panel"),
                .shortcut = "F6",
                .tip = tr("Move the focus to the next panel"),
                .needs = Needs::Model,
                .run = [this] { m_parts.docks.focusNext(m_parts.graph, 1); }});
    m_book.add({.name = "view.previousPanel",
                .text = tr("&Previous Panel"),
                .shortcut = "Shift+F6",
                .tip = tr("Move the focus to the previous panel"),
                .needs = Needs::Model,
                .run = [this] { m_parts.docks.focusNext(m_parts.graph, -1); }});
}

void WindowActions::setReducedMotion(bool reduced)
{
    m_parts.setup.settings.reducedMotion = reduced;
    m_parts.graph.setReducedMotion(reduced);
    animationOf(m_parts).setReducedMotion(reduced);
}

void WindowActions::addAppearance()
{
    QAction* still = m_book.add({.name = "view.reducedMotion",
                                 .text = tr("Reduce &Motion"),
                                 .tip = tr("Show changes without animation"),
                                 .needs = Needs::Nothing,
                                 .run = [this] { setReducedMotion(!m_parts.setup.settings.reducedMotion); }});
    still->setCheckable(true);
    still->setChecked(m_parts.setup.settings.reducedMotion);
    setReducedMotion(m_parts.setup.settings.reducedMotion);
    m_book.add({.name = "view.fullScreen",
                .text = tr("&Full Screen"),
                .shortcut = "F11",
                .tip = tr("Toggle full screen"),
                .needs = Needs::Nothing,
                .run = [this] { m_parts.window.setWindowState(m_parts.window.windowState() ^ Qt::WindowFullScreen); }});
}

void WindowActions::addThemes()
{
    auto* group = new QActionGroup(this);
    const std::tuple<const char*, QString, style::Mode> modes[] = {
        {"view.themeAuto", tr("Theme: System"), style::Mode::Auto},
        {"view.themeLight", tr("Theme: Light"), style::Mode::Light},
        {"view.themeDark", tr("Theme: Dark"), style::Mode::Dark},
    };
    for (const auto& [name, text, mode] : modes) {
        QAction* action = m_book.add({.name = name,
                                      .text = text,
                                      .tip = tr("Colour theme of the window"),
                                      .needs = Needs::Nothing,
                                      .run = [this, mode = mode] { emit themeChosen(mode); }});
        action->setCheckable(true);
        action->setChecked(mode == m_parts.setup.theme.value_or(m_parts.setup.settings.theme));
        group->addAction(action);
    }
}

void WindowActions::addLessons(FileDialogs& dialogs)
{
    const auto add = [this](const QByteArray& name, const QString& text, const QString& tip,
                            const std::function<void()>& run) {
        QAction* action =
            m_book.add({.name = name.constData(), .text = text, .tip = tip, .needs = Needs::Nothing, .run = run});
        action->setProperty(graphview::submenuProperty, tr("&Lessons"));
    };
    for (const study::Lesson& lesson : study::bundledLessons())
        add("explain.lesson." + lesson.id.toLatin1(), lesson.title, lesson.summary,
            [this, id = lesson.id] { emit lessonChosen(id); });
    add("explain.openLesson", tr("&Open a Lesson…"), tr("Play a lesson from a file"), [this, &dialogs] {
        dialogs.open(tr("Open a lesson"), tr("Lessons (*.json)"),
                     [this](const QString& file) { emit lessonFileChosen(file); });
    });
    add("explain.lessonPage", tr("Save the &Teacher's Page…"), tr("Write all lessons with their answers, to print"),
        [this, &dialogs] {
            dialogs.save(tr("Save the teacher's page"), QStringLiteral("lessons.pdf"), tr("Pages (*.pdf *.html)"),
                         [this](const QString& file) { emit lessonPageWanted(file); });
        });
}

void WindowActions::addHelp()
{
    m_book.add({.name = "help.panel",
                .text = tr("&Help on This Panel"),
                .shortcut = "F1",
                .tip = tr("Show the page about the panel that has the focus"),
                .needs = Needs::Nothing,
                .run = [this] { m_parts.help.openForFocus(); }});
    m_book.add({.name = "help.documentation",
                .text = tr("&Documentation"),
                .tip = tr("Read and search the documentation"),
                .needs = Needs::Nothing,
                .run = [this] {
                    m_parts.help.open({manual::contents().first().page, {}});
                }});
    m_book.add({.name = "help.glossary",
                .text = tr("&Glossary"),
                .tip = tr("The terms of the window, with their names in PyG, DGL and PyTorch"),
                .needs = Needs::Nothing,
                .run = [this] {
                    m_parts.help.open({QStringLiteral("reference/glossary.md"), {}});
                }});
    m_book.add({.name = "help.commands",
                .text = tr("&Commands…"),
                .shortcut = "Ctrl+Shift+P",
                .tip = tr("Find any action by its name"),
                .needs = Needs::Nothing,
                .run = [this] { (new CommandPalette(m_book, &m_parts.window))->show(); }});
    m_book.add({.name = "help.keys",
                .text = tr("&Keyboard Shortcuts"),
                .shortcut = "?; Shift+?",
                .tip = tr("Overview of all keyboard shortcuts"),
                .needs = Needs::Nothing,
                .run = [this] { (new KeysOverview(m_book, &m_parts.window))->show(); }});
    m_book.add({.name = "help.about",
                .text = tr("&About Hopscope"),
                .tip = tr("Version and licence"),
                .needs = Needs::Nothing,
                .run = [this] { showAbout(&m_parts.window); }});
}

// Icons by action; other actions have none.
void WindowActions::applyIcons(const style::Theme& theme)
{
    static const std::pair<const char*, const char*> icons[] = {
        {"file.open", "open"}, {"file.save", "save"},     {"file.reload", "reload"},   {"file.exportPicture", "export"},
        {"edit.undo", "undo"}, {"edit.redo", "redo"},     {"run.start", "run"},        {"run.pause", "pause"},
        {"run.stop", "stop"},  {"run.stepBatch", "step"}, {"help.commands", "search"},
    };
    for (const auto& [action, name] : icons)
        m_book.find(QLatin1String(action))->setIcon(style::icon(QLatin1String(name), theme));
}

void WindowActions::setupMenus()
{
    m_parts.window.menuBar()->setObjectName(QStringLiteral("menuBar"));
    m_parts.window.menuBar()->setNativeMenuBar(false);
    fillMenu(QStringLiteral("File"), tr("&File"));
    fillMenu(QStringLiteral("Edit"), tr("&Edit"));
    fillMenu(QStringLiteral("View"), tr("&View"));
    fillMenu(QStringLiteral("Graph"), tr("&Graph"));
    fillMenu(QStringLiteral("Plan"), tr("&Plan"));
    fillMenu(QStringLiteral("Run"), tr("&Run"));
    fillMenu(QStringLiteral("Explain"), tr("E&xplain"));
    fillMenu(QStringLiteral("Help"), tr("&Help"));
}

void WindowActions::fillMenu(const QString& group, const QString& title)
{
    static const QStringList separated{
        "file.reload",        "file.exportPicture", "file.exportSplit", "file.close",    "view.reset",
        "view.nextPanel",     "view.themeAuto",     "plan.clear",       "plan.load",     "run.pause",
        "run.openReport",     "run.settings",       "help.about",       "help.commands", "view.panel.outline",
        "explain.divergence", "explain.tensor"};
    QMenu* menu = m_parts.window.menuBar()->addMenu(title);
    menu->setObjectName(QStringLiteral("menu.%1").arg(group));
    menu->setToolTipsVisible(true);
    for (QAction* action : m_book.all()) {
        if (ActionBook::groupOf(action) != group) continue;
        if (separated.contains(action->objectName())) menu->addSeparator();
        submenuOf(*menu, *action).addAction(action);
        if (action->objectName() == u"file.openSession") addRecentMenu(*menu);
    }
}

// The submenu that the action names: "Graph" would be long and flat otherwise.
QMenu& WindowActions::submenuOf(QMenu& menu, const QAction& action)
{
    const QString title = action.property(graphview::submenuProperty).toString();
    if (title.isEmpty()) return menu;
    for (const QAction* known : menu.actions())
        if (known->menu() && known->text() == title) return *known->menu();
    QMenu* added = menu.addMenu(title);
    added->setObjectName(menu.objectName() + u'.' + QString(title).remove(u'&'));
    added->setToolTipsVisible(true);
    return *added;
}

void WindowActions::addRecentMenu(QMenu& menu)
{
    QMenu* recent = menu.addMenu(tr("Open &Recent"));
    recent->setObjectName(QStringLiteral("menu.recent"));
    connect(recent, &QMenu::aboutToShow, this, [this, recent] {
        recent->clear();
        for (const RecentFile& entry : m_parts.setup.settings.recent)
            connect(recent->addAction(entry.file), &QAction::triggered, this,
                    [this, entry] { m_sessions.open(entry); });
        if (recent->isEmpty()) recent->addAction(tr("No recent files"))->setEnabled(false);
    });
}

}  // namespace hopscope::window
