#include "main_window.h"

#include <QActionGroup>
#include <QFileInfo>
#include <QFileSystemWatcher>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenuBar>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

#include "models/labels.h"
#include "models/pins.h"
#include "models/run_log.h"
#include "style/icon.h"

namespace hopscope::window {

namespace {

constexpr int readableWidth = 320;  // below, tables and sentences of the plan and the inspector are cut off

// What only holds other things is called after its panel, unless it has a name of its own.
void nameContainers(QWidget* panel, const QString& title)
{
    for (QWidget* widget : panel->findChildren<QWidget*>()) {
        const bool container = qobject_cast<QScrollArea*>(widget) || qobject_cast<QTabWidget*>(widget) ||
                               qobject_cast<QHeaderView*>(widget) || qobject_cast<QTabBar*>(widget);
        if (!container) continue;
        if (widget->accessibleName().isEmpty()) widget->setAccessibleName(title);
        if (widget->objectName().isEmpty())
            widget->setObjectName(widget->parentWidget()->objectName() + QStringLiteral(".part"));
    }
}

QString repairText(const protocol::ModelRecord& model, const models::Repair& repair)
{
    if (!repair.dropped) return MainWindow::tr("Use %1 stages").arg(repair.wanted.stages.value_or(0));
    const QString value = models::valueLabel(model, repair.dropped->value);
    if (repair.dropped->kind == base::PinKind::Checkpoint) return MainWindow::tr("Cut here and unpin %1").arg(value);
    if (repair.dropped->kind == base::PinKind::NoCheckpoint)
        return MainWindow::tr("Cut here and allow storing %1").arg(value);
    return MainWindow::tr("Cut here without this pin: %1").arg(models::pinLabel(model, *repair.dropped));
}

}  // namespace

MainWindow::MainWindow(WindowSetup setup, QWidget* parent)
    : QMainWindow(parent),
      m_setup(std::move(setup)),
      m_theme(style::loadTheme(m_setup.settings.theme)),
      m_engine(std::make_unique<jobs::EngineClient>(m_setup.engineCommand)),
      m_workbench(std::make_unique<jobs::Workbench>(*m_engine, m_document))
{
    style::applyTheme(m_theme);  // first: fonts reach only widgets that are made later
    setObjectName(QStringLiteral("mainWindow"));
    setWindowIcon(style::applicationIcon());
    setAcceptDrops(true);
    resize(1600, 1000);
    setupCentre();
    setupDocks();
    setupKeeper();
    setupActions();
    setupPerspectives();
    connectWorkbench();
    connectGraph();
    connectDocument();
    connectStartPage();
    restoreGeometry(m_setup.settings.geometry);
    applyTheme();
    refresh();
}

// The parts that listen go before those that they listen to.
MainWindow::~MainWindow()
{
    m_workbench->disconnect(this);
    m_engine->disconnect(this);
    m_document.disconnect(this);
    delete takeCentralWidget();
    for (QDockWidget* dock : m_docks->all()) delete dock;
    delete m_keeper;
}

void MainWindow::start()
{
    m_engine->start();
    if (!m_setup.unattended) offerRecovery();
}

void MainWindow::setupCentre()
{
    auto* centre = new QWidget(this);
    centre->setObjectName(QStringLiteral("centre"));
    m_banner = new Banner(centre);
    m_centre = new QStackedWidget(centre);
    m_centre->setObjectName(QStringLiteral("centreStack"));
    m_start = new StartPage(samplesIn(m_setup.samples), m_centre);
    m_graph = new graphview::GraphPanel(m_document, m_selection, m_centre);
    m_graph->setLayoutCommand(m_setup.layoutCommand);
    m_start->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);  // while hidden it is not to widen the graph
    m_centre->addWidget(m_start);
    m_centre->addWidget(m_graph);
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_banner);
    column->addWidget(m_centre, 1);
    setCentralWidget(centre);
    m_status = new StatusLine(this);
    setStatusBar(m_status);
}

panels::Context MainWindow::panelContext() { return {m_document, m_selection, *m_workbench, m_engine.get()}; }

void MainWindow::setupDocks()
{
    const panels::Context context = panelContext();
    const std::tuple<QString, QString, panels::Panel* (*)(const panels::Context&, QWidget*)> makers[] = {
        {QStringLiteral("outline"), tr("Outline"), panels::makeOutline},
        {QStringLiteral("inspector"), tr("Inspector"), panels::makeInspector},
        {QStringLiteral("plan"), tr("Plan"), panels::makePlanPanel},
        {QStringLiteral("why"), tr("Why"), panels::makeWhy},
        {QStringLiteral("problems"), tr("Problems"), panels::makeProblems},
        {QStringLiteral("run"), tr("Run"), panels::makeRunPanel},
        {QStringLiteral("plots"), tr("Plots"), panels::makeRunPlots},
        {QStringLiteral("log"), tr("Log"), panels::makeLog},
        {QStringLiteral("history"), tr("History"), panels::makeHistory},
    };
    QVector<DockSpec> specs;
    for (const auto& [name, title, make] : makers) {
        m_panels.append(make(context, this));
        m_panels.last()->setAttribute(Qt::WA_StyledBackground);
        nameContainers(m_panels.last(), title);
        specs.append({name, title, m_panels.last()});
        if (name == u"plan" || name == u"inspector" || name == u"why") m_panels.last()->setMinimumWidth(readableWidth);
        if (name == u"plots") m_plots = m_panels.last();
    }
    m_docks = new Docks(*this, specs);
    m_docks->setLayouts(m_setup.settings.layouts);
    m_docks->setShown(false);
}

void MainWindow::setupPerspectives()
{
    auto* corner = new QWidget(menuBar());
    corner->setObjectName(QStringLiteral("perspectives"));
    corner->setAccessibleName(tr("Perspectives"));
    auto* row = new QHBoxLayout(corner);
    row->setContentsMargins(0, 2, 10, 2);
    row->setSpacing(6);
    for (QAction* action : m_perspectives->actions()) {
        auto* button = new QPushButton(plainText(action), corner);
        button->setObjectName(QStringLiteral("perspective.%1").arg(action->data().toString()));
        button->setAccessibleName(tr("Perspective %1").arg(plainText(action)));
        button->setCheckable(true);
        button->setChecked(action->isChecked());
        button->setToolTip(action->toolTip());
        connect(button, &QPushButton::clicked, action, &QAction::trigger);
        connect(action, &QAction::toggled, button, &QPushButton::setChecked);
        row->addWidget(button);
    }
    menuBar()->setCornerWidget(corner);
    m_docks->setPerspective(m_setup.settings.perspective);
}

void MainWindow::setupKeeper()
{
    m_keeper =
        new SessionKeeper([this](bool withView) { return currentSession(withView); }, m_setup.recoveryFolder, this);
    m_watcher = new QFileSystemWatcher(this);
    m_reload.setSingleShot(true);
    m_reload.setInterval(500);
    m_refresh.setSingleShot(true);
    m_refresh.setInterval(0);
    connect(&m_refresh, &QTimer::timeout, this, &MainWindow::refresh);
    connect(m_watcher, &QFileSystemWatcher::fileChanged, this, &MainWindow::fileChanged);
    connect(m_keeper, &SessionKeeper::modifiedChanged, this, &MainWindow::refreshActions);
    connect(&m_reload, &QTimer::timeout, this, [this] {
        m_view = m_graph->saveView();
        m_workbench->reload();
    });
}

void MainWindow::connectWorkbench()
{
    jobs::Workbench* bench = m_workbench.get();
    connect(bench, &jobs::Workbench::opened, this, &MainWindow::modelOpened);
    connect(bench, &jobs::Workbench::failed, this, &MainWindow::sayFailure);
    connect(bench, &jobs::Workbench::progressed, m_status, &StatusLine::setProgress);
    connect(bench, &jobs::Workbench::runStateChanged, this, &MainWindow::refreshActions);
    connect(bench, &jobs::Workbench::engineLost, this, [this](const QString& reason) {
        const bool over = m_engine->state() == jobs::EngineState::Failed;
        const QString then = over ? tr("It will not be restarted automatically.") : tr("Restarting it.");
        m_banner->say(QStringLiteral("engine"),
                      tr("Engine failure: %1. %2 None of your work is lost.").arg(reason, then),
                      {{tr("Restart now"), [this] { m_engine->restart(); }}});
    });
    connect(bench, &jobs::Workbench::engineBack, this, [this] {
        if (!m_banner->sentence().isEmpty())
            m_banner->say(QStringLiteral("engine"), tr("The engine has been restarted; your work has been restored."));
    });
    connect(m_engine.get(), &jobs::EngineClient::stateChanged, this, &MainWindow::refreshActions);
}

void MainWindow::connectGraph()
{
    jobs::Workbench* bench = m_workbench.get();
    connect(m_graph, &graphview::GraphPanel::pinRequested, bench, &jobs::Workbench::pin);
    connect(m_graph, &graphview::GraphPanel::unpinRequested, bench, &jobs::Workbench::unpin);
    connect(m_graph, &graphview::GraphPanel::pinToggled, bench, &jobs::Workbench::togglePin);
    connect(m_graph, &graphview::GraphPanel::checkpointMoved, bench, &jobs::Workbench::movePin);
    connect(m_graph, &graphview::GraphPanel::checkpointDragged, bench, &jobs::Workbench::previewMove);
    connect(m_graph, &graphview::GraphPanel::dragEnded, bench, &jobs::Workbench::endPreview);
    connect(m_graph, &graphview::GraphPanel::layoutFinished, m_keeper, &SessionKeeper::touch);
    connect(m_graph, &graphview::GraphPanel::contextHelpRequested, this,
            [this](const QString& sentence) { m_status->showMessage(sentence, 8000); });
}

void MainWindow::connectDocument()
{
    models::Document* document = &m_document;
    connect(document, &models::Document::modelChanged, this, &MainWindow::refreshActions);
    connect(document, &models::Document::planChanged, this, &MainWindow::refreshActions);
    connect(document, &models::Document::settingsChanged, this, &MainWindow::refreshActions);
    connect(document, &models::Document::runsChanged, this, &MainWindow::refreshActions);
    connect(document, &models::Document::refusalChanged, this, [this](const QString& sentence) {
        if (sentence.isEmpty()) m_banner->dismiss(QStringLiteral("refusal"));
        else
            m_banner->say(QStringLiteral("refusal"), tr("This cut is not possible: %1").arg(sentence),
                          suggestedFixes());
    });
    connect(&m_selection, &models::Selection::changed, this, &MainWindow::refreshActions);
}

void MainWindow::connectStartPage()
{
    connect(m_start, &StartPage::openRequested, this, [this] { askForModel({}); });
    connect(m_start, &StartPage::sampleChosen, this, [this](const Sample& sample) {
        openFile({sample.model, {sample.data}, {}});
    });
    connect(m_start, &StartPage::recentChosen, this, &MainWindow::openFile);
}

// Of the change that has just been refused: at most two, as buttons.
QVector<BannerButton> MainWindow::suggestedFixes()
{
    QVector<BannerButton> buttons;
    for (const models::Repair& repair : m_document.repairs()) {
        if (buttons.size() == 2) break;
        const QString text = repairText(*m_document.model(), repair);
        buttons.append({text, [this, repair, text] { m_workbench->repair(text, repair); }});
    }
    return buttons;
}

// Many changes come together; the window follows once.
void MainWindow::refreshActions() { m_refresh.start(); }

void MainWindow::refresh()
{
    const bool open = m_document.model() != nullptr;
    m_actions->update([this](Needs needs) { return met(needs); });
    m_centre->setCurrentWidget(open ? static_cast<QWidget*>(m_graph) : m_start);
    m_docks->setShown(open);
    m_start->setRecent(m_setup.settings.recent);
    m_status->setModel(m_document.model());
    m_status->setEngine({m_engine->state(), engineWhere(m_setup.engine), m_document.settings().device,
                         m_workbench->running(), m_workbench->busy()});
    m_keeper->touch();
    const QString file = m_keeper->file().isEmpty() ? m_document.modelPath() : m_keeper->file();
    setWindowTitle(open ? tr("%1[*] – Hopscope").arg(QFileInfo(file).fileName()) : tr("Hopscope[*]"));
    setWindowFilePath(open ? file : QString());
    setWindowModified(m_keeper->modified());
}

bool MainWindow::met(Needs needs) const
{
    const bool running = m_workbench->running();
    switch (needs) {
    case Needs::Nothing: return true;
    case Needs::Model: return m_document.model() != nullptr;
    case Needs::Plan: return m_document.plan() != nullptr;
    case Needs::IdleRun: return m_document.plan() && !running && m_engine->state() == jobs::EngineState::Ready;
    case Needs::ActiveRun: return running;
    case Needs::PausedRun:
        return running && m_document.runLog() && m_document.runLog()->state() == protocol::RunState::Paused;
    case Needs::Step: return met(Needs::IdleRun) || met(Needs::PausedRun);
    case Needs::Runs: return !m_document.runs().empty();
    case Needs::RunLog: return m_document.runLog() != nullptr;
    }
    return false;
}

void MainWindow::setThemeMode(style::Mode mode)
{
    m_setup.settings.theme = mode;
    m_theme = style::loadTheme(mode);
    applyTheme();
    emit settingsChanged(settings());
}

void MainWindow::applyTheme()
{
    style::applyTheme(m_theme);
    applyIcons();
    m_graph->setTheme(m_theme);
    for (panels::Panel* panel : m_panels) panel->setTheme(m_theme);
}

WindowSettings MainWindow::settings() const
{
    WindowSettings settings = m_setup.settings;
    settings.geometry = saveGeometry();
    settings.layouts = m_docks->layouts();
    settings.perspective = m_docks->perspective();
    return settings;
}

}  // namespace hopscope::window
