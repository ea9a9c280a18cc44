#include <QActionGroup>
#include <QApplication>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>

#include "command_palette.h"
#include "keys_overview.h"
#include "main_window.h"
#include "models/run_log.h"
#include "style/icon.h"

namespace hopscope::window {

void MainWindow::setupActions()
{
    m_actions = new ActionBook(this);
    addFileActions();
    addEditActions();
    addPerspectiveActions();
    addViewActions();
    addThemeActions();
    for (QAction* action : m_graph->viewActions()) m_actions->adopt(action, QStringLiteral("Graph"));
    addPlanActions();
    addRunActions();
    addHelpActions();
    setupMenus();
}

void MainWindow::addFileActions()
{
    using enum Needs;
    const ActionSpec specs[] = {
        {"file.open", tr("&Open a Model…"), "Ctrl+O", tr("Open a model with its data"), Nothing,
         [this] { askForModel({}); }},
        {"file.openSession", tr("Open a &Session…"), "Ctrl+Shift+O", tr("Open a session file"), Nothing,
         [this] { askForSession(); }},
        {"file.data", tr("Change the &Data…"), "", tr("Open the same model with different data or roles"), Model,
         [this] {
             askForModel({m_document.modelPath(), m_document.data(), m_document.roles()});
         }},
        {"file.reload", tr("&Reload"), "F5", tr("Reload the files, keeping cuts and view"), Model,
         [this] { m_reload.start(0); }},
        {"file.save", tr("Sa&ve the Session"), "Ctrl+S", tr("Save the open files, cuts and view"), Model,
         [this] { saveSession(false); }},
        {"file.saveAs", tr("Save the Session &As…"), "Ctrl+Shift+S", tr("Save under a different name"), Model,
         [this] { saveSession(true); }},
        {"file.exportPicture", tr("Export the &Graph…"), "Ctrl+E", tr("Write the graph as SVG, PDF or PNG"), Model,
         [this] { askForExport(QStringLiteral("graph"), tr("Pictures (*.svg *.pdf *.png)")); }},
        {"file.exportPlots", tr("Export the &Plots…"), "", tr("Write the plots as SVG, PDF, PNG or CSV"), RunLog,
         [this] { askForExport(QStringLiteral("plots"), tr("Plots (*.svg *.pdf *.png *.csv)")); }},
        {"file.exportOps", tr("Export the &Table of Operators…"), "", tr("Write the operators as CSV"), Model,
         [this] { askForExport(QStringLiteral("ops"), tr("Tables (*.csv)")); }},
        {"file.exportStages", tr("Export the Table of Sta&ges…"), "", tr("Write the stages as CSV"), Plan,
         [this] { askForExport(QStringLiteral("stages"), tr("Tables (*.csv)")); }},
        {"file.exportTrace", tr("Export the Run's &Trace…"), "", tr("Write the run for a trace viewer (JSON)"), RunLog,
         [this] { askForExport(QStringLiteral("trace"), tr("Traces (*.json)")); }},
        {"file.close", tr("&Close"), "Ctrl+W", tr("Close the model"), Model, [this] { closeFile(); }},
        {"file.quit", tr("&Quit"), "Ctrl+Q", tr("Quit Hopscope"), Nothing, [this] { close(); }},
    };
    for (const ActionSpec& spec : specs) m_actions->add(spec);
}

void MainWindow::addEditActions()
{
    QAction* undo = m_workbench->undoStack().createUndoAction(this, tr("Undo"));
    undo->setObjectName(QStringLiteral("edit.undo"));
    undo->setShortcut(QKeySequence(QStringLiteral("Ctrl+Z")));
    undo->setStatusTip(tr("Undo the last change of the cuts"));
    QAction* redo = m_workbench->undoStack().createRedoAction(this, tr("Redo"));
    redo->setObjectName(QStringLiteral("edit.redo"));
    redo->setShortcuts(QKeySequence::listFromString(QStringLiteral("Ctrl+Shift+Z; Ctrl+Y")));
    redo->setStatusTip(tr("Redo the change that was undone"));
    for (QAction* action : {undo, redo}) m_actions->adopt(action, QStringLiteral("Edit"));
}

void MainWindow::addPerspectiveActions()
{
    m_perspectives = new QActionGroup(this);
    int number = 0;
    for (const QString& name : perspectiveNames()) {
        const QByteArray object = "view." + name.toLatin1();
        QAction* action = m_actions->add(
            {object.constData(), perspectiveTitle(name), QStringLiteral("Ctrl+%1").arg(++number),
             tr("Arrange the panels for this task"), Needs::Model, [this, name] { m_docks->setPerspective(name); }});
        action->setCheckable(true);
        action->setData(name);
        m_perspectives->addAction(action);
        action->setChecked(name == m_docks->perspective());
    }
    connect(m_docks, &Docks::perspectiveChanged, this, [this](const QString& name) {
        for (QAction* action : m_perspectives->actions()) action->setChecked(action->data() == name);
        refreshActions();
    });
}

void MainWindow::addViewActions()
{
    m_actions->add({"view.reset", tr("&Reset the Panels"), "", tr("Restore the default arrangement of the panels"),
                    Needs::Model, [this] { m_docks->reset(); }});
    for (QDockWidget* dock : m_docks->all()) {
        const QString name = dock->objectName().section(u'.', 1);
        const QByteArray object = "view.panel." + name.toLatin1();
        m_actions->add({object.constData(), tr("Show %1").arg(dock->windowTitle()), "",
                        tr("Show this panel and focus it"), Needs::Model, [this, name] { m_docks->reveal(name); }});
    }
    m_actions->add({"view.nextPanel", tr("&Next Panel"), "F6", tr("Move the focus to the next panel"), Needs::Model,
                    [this] { focusNextPanel(1); }});
    m_actions->add({"view.previousPanel", tr("&Previous Panel"), "Shift+F6", tr("Move the focus to the previous panel"),
                    Needs::Model, [this] { focusNextPanel(-1); }});
    QAction* still = m_actions->add(
        {"view.reducedMotion", tr("Reduce &Motion"), "", tr("Show changes without animation"), Needs::Nothing, [this] {
             m_setup.settings.reducedMotion = !m_setup.settings.reducedMotion;
             m_graph->setReducedMotion(m_setup.settings.reducedMotion);
         }});
    still->setCheckable(true);
    still->setChecked(m_setup.settings.reducedMotion);
    m_graph->setReducedMotion(m_setup.settings.reducedMotion);
    m_actions->add({"view.fullScreen", tr("&Full Screen"), "F11", tr("Toggle full screen"), Needs::Nothing,
                    [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); }});
}

void MainWindow::addThemeActions()
{
    auto* group = new QActionGroup(this);
    const std::tuple<const char*, QString, style::Mode> modes[] = {
        {"view.themeAuto", tr("Theme: System"), style::Mode::Auto},
        {"view.themeLight", tr("Theme: Light"), style::Mode::Light},
        {"view.themeDark", tr("Theme: Dark"), style::Mode::Dark},
    };
    for (const auto& [name, text, mode] : modes) {
        QAction* action = m_actions->add({name, text, "", tr("Colour theme of the window"), Needs::Nothing,
                                          [this, mode = mode] { setThemeMode(mode); }});
        action->setCheckable(true);
        action->setChecked(mode == m_setup.settings.theme);
        group->addAction(action);
    }
}

void MainWindow::addPlanActions()
{
    using enum Needs;
    const ActionSpec specs[] = {
        {"plan.optimalTime", tr("Strategy: Optimal &Time"), "",
         tr("The plan with the shortest predicted time, without pins"), Model,
         [this] { m_workbench->setStrategy(base::Strategy::Optimal, base::Objective::Time); }},
        {"plan.optimalBytes", tr("Strategy: Optimal &Bytes"), "",
         tr("The plan that moves the fewest bytes, without pins"), Model,
         [this] { m_workbench->setStrategy(base::Strategy::Optimal, base::Objective::Bytes); }},
        {"plan.aroundPins", tr("&Optimise Around the Pins"), "Ctrl+Alt+O",
         tr("The cheapest plan that respects your pins"), Model, [this] { m_workbench->optimiseAroundPins(); }},
        {"plan.depth", tr("Strategy: &Depth"), "", tr("Cut after every hop, without pins"), Model,
         [this] { m_workbench->setStrategy(base::Strategy::Depth); }},
        {"plan.sourceRule", tr("Strategy: &Source Rule"), "", tr("Cut by module, without pins"), Model,
         [this] { m_workbench->setStrategy(base::Strategy::SourceRule); }},
        {"plan.clear", tr("Remove All &Pins"), "Ctrl+Shift+Backspace", tr("Leave all decisions to the strategy"), Plan,
         [this] { m_workbench->clearPins(); }},
        {"plan.load", tr("&Load a Plan…"), "", tr("Use the cuts of a plan.json"), Model,
         [this] {
             chooseLocal(this, tr("Load a plan"), tr("Plans (*.json)"), false,
                         [this](const QStringList& files) { m_workbench->loadPlan(files.value(0)); });
         }},
        {"plan.save", tr("Sa&ve the Plan…"), "", tr("Write the plan to a plan.json"), Plan,
         [this] {
             chooseSave(tr("Save the plan"), QStringLiteral("plan.json"), tr("Plans (*.json)"),
                        [this](const QString& file) { m_workbench->savePlan(file); });
         }},
    };
    for (const ActionSpec& spec : specs) m_actions->add(spec);
}

void MainWindow::addRunActions()
{
    using enum Needs;
    const auto pauseOrResume = [this] {
        if (met(PausedRun)) m_workbench->resume();
        else m_workbench->pause();
    };
    const ActionSpec specs[] = {
        {"run.start", tr("&Start"), "F9", tr("Run the plan for all nodes and compare with the model"), IdleRun,
         [this] { m_workbench->startRun(); }},
        {"run.startPaused", tr("Start &Step by Step"), "Ctrl+F9", tr("Start paused, to step batch by batch"), IdleRun,
         [this] { m_workbench->startRun(true); }},
        {"run.pause", tr("&Pause or Resume"), "F8", tr("Pause after the current batch, or resume"), ActiveRun,
         pauseOrResume},
        {"run.stepBatch", tr("Step One &Batch"), "F10", tr("Run one more batch, or start with the first"), Step,
         [this] { m_workbench->step(QStringLiteral("batch")); }},
        {"run.stepStage", tr("Step One Sta&ge"), "Shift+F9", tr("Run one more stage, or start with the first"), Step,
         [this] { m_workbench->step(QStringLiteral("stage")); }},
        {"run.stop", tr("S&top"), "Shift+F5", tr("Stop the run and discard its results"), ActiveRun,
         [this] { m_workbench->stopRun(); }},
        {"run.openReport", tr("Open a &Report…"), "", tr("Show an earlier run next to the others"), Model,
         [this] {
             chooseLocal(this, tr("Open a report"), tr("Reports (*.json)"), false,
                         [this](const QStringList& files) { m_workbench->openReport(files.value(0)); });
         }},
        {"run.saveReport", tr("S&ave the Report…"), "", tr("Write the report.json of the last run"), Runs,
         [this] { askForExport(QStringLiteral("report"), tr("Reports (*.json)")); }},
        {"run.machine", tr("&Machine…"), "", tr("Rates of the device, typical or measured"), Nothing,
         [this] { panels::showMachine(panelContext(), centralWidget()); }},
        {"run.restartEngine", tr("Restart the &Engine"), "", tr("Stop the engine and start it again"), Nothing,
         [this] { m_engine->restart(); }},
    };
    for (const ActionSpec& spec : specs) m_actions->add(spec);
}

void MainWindow::addHelpActions()
{
    m_actions->add({"help.commands", tr("&Commands…"), "Ctrl+Shift+P", tr("Find any action by its name"),
                    Needs::Nothing, [this] { showPalette(); }});
    m_actions->add({"help.keys", tr("&Keys"), "?; Shift+?; F1", tr("Overview of all keyboard shortcuts"),
                    Needs::Nothing, [this] { showKeys(); }});
    m_actions->add(
        {"help.about", tr("&About Hopscope"), "", tr("Version and licence"), Needs::Nothing, [this] { showAbout(); }});
}

// By action; the others have none.
void MainWindow::applyIcons()
{
    static const std::pair<const char*, const char*> icons[] = {
        {"file.open", "open"}, {"file.save", "save"},     {"file.reload", "reload"},   {"file.exportPicture", "export"},
        {"edit.undo", "undo"}, {"edit.redo", "redo"},     {"run.start", "run"},        {"run.pause", "pause"},
        {"run.stop", "stop"},  {"run.stepBatch", "step"}, {"help.commands", "search"},
    };
    for (const auto& [action, name] : icons)
        m_actions->find(QLatin1String(action))->setIcon(style::icon(QLatin1String(name), m_theme));
}

void MainWindow::setupMenus()
{
    menuBar()->setObjectName(QStringLiteral("menuBar"));
    menuBar()->setNativeMenuBar(false);
    fillMenu(QStringLiteral("File"), tr("&File"));
    fillMenu(QStringLiteral("Edit"), tr("&Edit"));
    fillMenu(QStringLiteral("View"), tr("&View"));
    fillMenu(QStringLiteral("Graph"), tr("&Graph"));
    fillMenu(QStringLiteral("Plan"), tr("&Plan"));
    fillMenu(QStringLiteral("Run"), tr("&Run"));
    fillMenu(QStringLiteral("Help"), tr("&Help"));
}

void MainWindow::fillMenu(const QString& group, const QString& title)
{
    static const QStringList separated{"file.reload",       "file.exportPicture", "file.close",  "view.reset",
                                       "view.nextPanel",    "view.themeAuto",     "plan.clear",  "plan.load",
                                       "run.pause",         "run.openReport",     "run.machine", "help.about",
                                       "view.panel.outline"};
    QMenu* menu = menuBar()->addMenu(title);
    menu->setObjectName(QStringLiteral("menu.%1").arg(group));
    menu->setToolTipsVisible(true);
    for (QAction* action : m_actions->all()) {
        if (ActionBook::groupOf(action) != group) continue;
        if (separated.contains(action->objectName())) menu->addSeparator();
        menu->addAction(action);
        if (action->objectName() == u"file.openSession") addRecentMenu(menu);
    }
}

void MainWindow::addRecentMenu(QMenu* menu)
{
    QMenu* recent = menu->addMenu(tr("Open &Recent"));
    recent->setObjectName(QStringLiteral("menu.recent"));
    connect(recent, &QMenu::aboutToShow, this, [this, recent] {
        recent->clear();
        for (const RecentFile& entry : m_setup.settings.recent)
            connect(recent->addAction(entry.file), &QAction::triggered, this, [this, entry] { openFile(entry); });
        if (recent->isEmpty()) recent->addAction(tr("No recent files"))->setEnabled(false);
    });
}

void MainWindow::showPalette() { (new CommandPalette(*m_actions, this))->show(); }

void MainWindow::showKeys() { (new KeysOverview(*m_actions, this))->show(); }

void MainWindow::showAbout()
{
    auto* box = new QMessageBox(this);
    box->setObjectName(QStringLiteral("about"));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setWindowTitle(tr("About Hopscope"));
    box->setIconPixmap(windowIcon().pixmap(64, 64));
    box->setText(
        tr("<b>Hopscope %1</b><p>Inspect where a graph neural network can be cut, move the cuts, and run it layer by "
           "layer for all nodes.</p>")
            .arg(QApplication::applicationVersion()));
    box->setInformativeText(
        tr("Free software under the GNU General Public License, version 3 or later. Made with Qt %1, "
           "QCustomPlot and Graphviz.")
            .arg(QString::fromLatin1(qVersion())));
    box->show();
}

// Graph, then every visible panel in the order of the docks.
void MainWindow::focusNextPanel(int step)
{
    QVector<QWidget*> stops{m_graph};
    for (QDockWidget* dock : m_docks->all())
        if (dock->isVisible() && !dock->visibleRegion().isEmpty()) stops.append(dock->widget());
    qsizetype at = 0;
    for (qsizetype i = 0; i < stops.size(); ++i)
        if (stops[i] == focusWidget() || stops[i]->isAncestorOf(focusWidget())) at = i;
    QWidget* next = stops[(at + step + stops.size()) % stops.size()];
    QWidget* target = next->focusPolicy() == Qt::NoFocus ? next->nextInFocusChain() : next;
    while (target != next &&
           !(next->isAncestorOf(target) && target->focusPolicy() != Qt::NoFocus && target->isVisible()))
        target = target->nextInFocusChain();
    target->setFocus(Qt::ShortcutFocusReason);
}

}  // namespace hopscope::window
