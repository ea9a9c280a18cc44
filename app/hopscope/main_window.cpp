#include "main_window.h"

#include <QCloseEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenuBar>
#include <QMimeData>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QStackedWidget>
#include <QStyle>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

#include "manual/term_tips.h"
#include "models/labels.h"
#include "models/problem_model.h"
#include "models/run_log.h"
#include "panels/panels.h"
#include "perspective_switch.h"
#include "run_actions.h"
#include "study/study.h"
#include "style/icon.h"

namespace hopscope::window {

namespace {

constexpr int readableWidth = 320;  // below, tables and sentences of the plan and the inspector are cut off

// A pure container is named after its panel, unless it has a name of its own.
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

bool isPaused(const jobs::Workbench& workbench, const models::Document& document)
{
    return workbench.running() && document.runLog() && document.runLog()->state() == protocol::RunState::Paused;
}

}  // namespace

QRect fittedTo(QRect window, const QRect& room)
{
    window.setSize(window.size().boundedTo(room.size()));
    window.moveLeft(std::clamp(window.left(), room.left(), room.right() - window.width() + 1));
    window.moveTop(std::clamp(window.top(), room.top(), room.bottom() - window.height() + 1));
    return window;
}

MainWindow::MainWindow(WindowSetup setup, QWidget* parent)
    : QMainWindow(parent),
      m_setup(std::move(setup)),
      m_theme(style::loadTheme(m_setup.theme.value_or(m_setup.settings.theme))),
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
    setupTools();
    setupPerspectives();
    connectWorkbench();
    connectGraph();
    connectDocument();
    connectStartPage();
    connectTools();
    restoreGeometry(m_setup.settings.geometry);
    keepOnScreen();
    applyTheme();
    refresh();
}

// Listeners are destroyed before the objects that they listen to.
MainWindow::~MainWindow()
{
    m_workbench->disconnect(this);
    m_engine->disconnect(this);
    m_document.disconnect(this);
    m_tour.reset();
    m_actions.reset();
    m_sessions.reset();
    m_exporter.reset();
    m_notices.reset();
    delete takeCentralWidget();
    for (QDockWidget* dock : m_docks->all()) delete dock;
}

// Leaves room above for the title bar, whose height is unknown before the window is shown.
void MainWindow::keepOnScreen()
{
    if (m_setup.unattended || isMaximized() || isFullScreen()) return;
    const QRect screenRoom = m_setup.room.isNull() ? screen()->availableGeometry() : m_setup.room;
    const int titleBar = style()->pixelMetric(QStyle::PM_TitleBarHeight);
    setGeometry(fittedTo(geometry(), screenRoom.adjusted(0, titleBar, 0, 0)));
}

void MainWindow::start()
{
    m_engine->start();
    if (!m_setup.unattended) m_sessions->offerRecovery();
}

void MainWindow::setupCentre()
{
    auto* centre = new QWidget(this);
    centre->setObjectName(QStringLiteral("centre"));
    m_banner = new Banner(centre);
    m_refusal = new RefusalCard(centre);
    m_centre = new QStackedWidget(centre);
    m_centre->setObjectName(QStringLiteral("centreStack"));
    m_start = new StartPage(samplesIn(m_setup.samples), m_centre);
    m_graph = new graphview::GraphPanel(m_document, m_selection, m_centre);
    m_graph->setLayoutCommand(m_setup.layoutCommand);
    m_start->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);  // while hidden it must not widen the graph
    m_centre->addWidget(m_start);
    m_centre->addWidget(m_graph);
    m_lesson = new study::LessonPane(centre);
    auto* row = new QHBoxLayout(centre);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(m_lesson);
    auto* column = new QVBoxLayout;
    row->addLayout(column, 1);
    column->setSpacing(0);
    column->addWidget(m_banner);
    column->addWidget(m_refusal);
    column->addWidget(m_centre, 1);
    setCentralWidget(centre);
    m_status = new StatusLine(this);
    setStatusBar(m_status);
}

void MainWindow::setupDocks()
{
    const panels::Context context{
        .document = m_document, .selection = m_selection, .workbench = *m_workbench, .engine = m_engine.get()};
    const std::tuple<QString, QString, panels::Panel* (*)(const panels::Context&, QWidget*)> makers[] = {
        {QStringLiteral("outline"), tr("Outline"), panels::makeOutline},
        {QStringLiteral("inspector"), tr("Inspector"), panels::makeInspector},
        {QStringLiteral("plan"), tr("Plan"), panels::makePlanPanel},
        {QStringLiteral("why"), tr("Why"), panels::makeWhy},
        {QStringLiteral("tradeOff"), tr("Trade-off"), panels::makeTradeOff},
        {QStringLiteral("problems"), tr("Problems"), panels::makeProblems},
        {QStringLiteral("run"), tr("Run"), panels::makeRunPanel},
        {QStringLiteral("plots"), tr("Plots"), panels::makeRunPlots},
        {QStringLiteral("log"), tr("Log"), panels::makeLog},
        {QStringLiteral("history"), tr("History"), panels::makeHistory},
        {QStringLiteral("receptive"), tr("Receptive Field"), study::makeReceptive},
        {QStringLiteral("debugger"), tr("Debugger"), study::makeDebugger},
        {QStringLiteral("tensor"), tr("Tensor"), study::makeTensor},
        {QStringLiteral("follow"), tr("Follow a Node"), study::makeFollow},
        {QStringLiteral("monitor"), tr("Monitor"), study::makeMonitor},
        {QStringLiteral("breakpoints"), tr("Breakpoints"), study::makeBreakpoints},
        {QStringLiteral("rules"), tr("Rules"), study::makeRules},
        {QStringLiteral("animation"), tr("Animation"), study::makeAnimation},
    };
    // Panels of sentences and tables.
    const QStringList read{"plan",      "inspector", "why",    "receptive", "rules",
                           "animation", "tensor",    "follow", "monitor",   "breakpoints"};
    QVector<DockSpec> specs;
    for (const auto& [name, title, make] : makers) {
        m_panels.append(make(context, this));
        m_panels.last()->setAttribute(Qt::WA_StyledBackground);
        nameContainers(m_panels.last(), title);
        specs.append({.name = name, .title = title, .widget = m_panels.last()});
        if (read.contains(name)) m_panels.last()->setMinimumWidth(readableWidth);
        if (name == u"plots") m_plots = m_panels.last();
    }
    m_docks = new Docks(*this, specs);
    for (qsizetype i = 0; i < specs.size(); ++i)
        connect(m_panels[i], &panels::Panel::findingsChanged, m_docks,
                [docks = m_docks, name = specs[i].name](int count) { docks->setFindings(name, count); });
    m_docks->setLayouts(m_setup.settings.layouts);
    m_docks->setShown(false);
}

void MainWindow::setupPerspectives()
{
    menuBar()->setCornerWidget(new PerspectiveSwitch(m_actions->perspectives(), *menuBar()));
    m_docks->setPerspective(m_setup.settings.perspective);
}

void MainWindow::setupTools()
{
    m_help = new Help(this);
    new manual::TermTips(this);
    m_parts = std::make_unique<WindowParts>(WindowParts{.window = *this,
                                                        .setup = m_setup,
                                                        .document = m_document,
                                                        .selection = m_selection,
                                                        .engine = *m_engine,
                                                        .workbench = *m_workbench,
                                                        .graph = *m_graph,
                                                        .plots = *m_plots,
                                                        .docks = *m_docks,
                                                        .banner = *m_banner,
                                                        .status = *m_status,
                                                        .help = *m_help});
    m_dialogs = std::make_unique<FileDialogs>(*m_parts);
    m_notices = std::make_unique<Notices>(*m_parts);
    m_exporter = std::make_unique<Exporter>(*m_parts, *m_dialogs, *m_notices);
    m_sessions = std::make_unique<SessionControl>(*m_parts, *m_dialogs, *m_notices);
    m_actions = std::make_unique<WindowActions>(*m_parts, *m_sessions, *m_dialogs, *m_exporter);
    m_tour = std::make_unique<Tour>(*m_parts, *m_sessions, *m_notices, m_actions->book(), *m_lesson);
    m_refresh.setSingleShot(true);
    m_refresh.setInterval(0);
    connect(&m_refresh, &QTimer::timeout, this, &MainWindow::refresh);
}

void MainWindow::connectTools()
{
    connect(m_sessions.get(), &SessionControl::saved, this, &MainWindow::refreshLater);
    connect(&m_sessions->keeper(), &SessionKeeper::modifiedChanged, this, &MainWindow::refreshLater);
    connect(m_sessions.get(), &SessionControl::recentChanged, this, [this] { emit settingsChanged(settings()); });
    connect(m_actions.get(), &WindowActions::themeChosen, this, &MainWindow::setThemeMode);
    connect(m_docks, &Docks::perspectiveChanged, this, &MainWindow::refreshLater);
    connect(m_actions.get(), &WindowActions::lessonChosen, m_tour.get(), &Tour::startBundled);
    connect(m_actions.get(), &WindowActions::lessonFileChosen, m_tour.get(), &Tour::startFile);
    connect(m_actions.get(), &WindowActions::lessonPageWanted, m_tour.get(), &Tour::savePage);
    connect(m_start, &StartPage::lessonChosen, m_tour.get(), &Tour::startBundled);
}

void MainWindow::connectWorkbench()
{
    const jobs::Workbench* bench = m_workbench.get();
    connect(bench, &jobs::Workbench::opened, this, [this] {
        m_selection.clear();
        refresh();
        m_sessions->modelOpened();
        if (!models::blockingLint(*m_document.model())) return;
        m_docks->bring(QStringLiteral("problems"));
        showRefusedOperator();
    });
    connect(bench, &jobs::Workbench::progressed, m_status, &StatusLine::setProgress);
    connect(bench, &jobs::Workbench::runStateChanged, this, &MainWindow::refreshLater);
    connect(bench, &jobs::Workbench::failed, this, &MainWindow::refreshLater);
    connect(m_engine.get(), &jobs::EngineClient::stateChanged, this, &MainWindow::refreshLater);
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
    connect(m_graph, &graphview::GraphPanel::breakpointsWanted, this,
            [this](const std::vector<models::Breakpoint>& wanted) { setBreakpoints(*m_parts, wanted); });
    connect(m_graph, &graphview::GraphPanel::layoutFinished, &m_sessions->keeper(), &SessionKeeper::touch);
    connect(m_graph, &graphview::GraphPanel::contextHelpRequested, this,
            [this](const QString& sentence, const graphview::DropOffer& offer) {
                if (!offer.places.empty()) return m_notices->offerPlace(sentence, offer);
                m_status->showMessage(sentence, 8000);
            });
    m_centre->installEventFilter(this);
}

// A line above the graph appears or disappears: the nodes stay below the pointer.
bool MainWindow::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_centre && event->type() == QEvent::Move) {
        const auto* move = static_cast<QMoveEvent*>(event);
        m_graph->holdStill(move->pos() - move->oldPos());
    }
    return QMainWindow::eventFilter(watched, event);
}

void MainWindow::connectDocument()
{
    models::Document* document = &m_document;
    connect(document, &models::Document::modelChanged, this, &MainWindow::refreshLater);
    connect(document, &models::Document::planChanged, this, &MainWindow::refreshLater);
    connect(document, &models::Document::settingsChanged, this, &MainWindow::refreshLater);
    connect(document, &models::Document::runsChanged, this, &MainWindow::refreshLater);
    connect(document, &models::Document::refusalChanged, this, &MainWindow::refreshLater);
    connect(&m_selection, &models::Selection::changed, this, &MainWindow::refreshLater);
}

void MainWindow::connectStartPage()
{
    connect(m_start, &StartPage::openRequested, this, [this] { m_sessions->askForModel({}); });
    connect(m_start, &StartPage::sampleChosen, this,
            [this](const Sample& sample) { openFile({.file = sample.model, .data = {sample.data}, .roles = {}}); });
    connect(m_start, &StartPage::recentChosen, this, &MainWindow::openFile);
    connect(m_refusal, &RefusalCard::operatorWanted, this, &MainWindow::showRefusedOperator);
    const auto askForData = [this] {
        m_sessions->askForModel({.file = m_document.modelPath(), .data = {}, .roles = m_document.roles()});
    };
    connect(m_refusal, &RefusalCard::dataWanted, this, askForData);
    connect(m_refusal, &RefusalCard::trusted, this, [this](bool folder) {
        m_workbench->queries().trustModel(folder, this, [this] { m_workbench->reload(); });
    });
    connect(m_notices.get(), &Notices::dataWanted, this, askForData);
    connect(m_notices.get(), &Notices::reloadWanted, m_sessions.get(), &SessionControl::reload);
}

void MainWindow::showRefusedOperator()
{
    const protocol::LintRecord* lint = models::blockingLint(*m_document.model());
    if (lint && lint->op.valid()) m_selection.reveal(models::Target::op(lint->op));
}

// Coalesces changes that come together into one refresh.
void MainWindow::refreshLater() { m_refresh.start(); }

void MainWindow::refresh()
{
    const bool open = m_document.model() != nullptr;
    m_actions->refresh();
    m_centre->setCurrentWidget(open ? static_cast<QWidget*>(m_graph) : m_start);
    m_docks->setShown(open);
    m_refusal->setModel(m_document.model().get(), m_document.modelPath().section(u'/', -2, -2),
                        !m_document.data().isEmpty());
    m_start->setRecent(m_setup.settings.recent);
    m_status->setModel(m_document.model());
    m_status->setEngine({.state = m_engine->state(),
                         .where = engineWhere(m_setup.engine),
                         .device = models::text(m_document.settings().device),
                         .confinement = m_engine->confinement(),
                         .running = m_workbench->running(),
                         .paused = isPaused(*m_workbench, m_document),
                         .busy = m_workbench->busy()});
    m_sessions->keeper().touch();
    const QString file = m_sessions->keeper().file().isEmpty() ? m_document.modelPath() : m_sessions->keeper().file();
    setWindowTitle(open ? tr("%1[*] – Hopscope").arg(QFileInfo(file).fileName()) : tr("Hopscope[*]"));
    setWindowFilePath(open ? file : QString());
    setWindowModified(m_sessions->keeper().modified());
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
    m_actions->applyIcons(m_theme);
    m_graph->setTheme(m_theme);
    for (panels::Panel* panel : m_panels) panel->setTheme(m_theme);
    m_tour->setTheme(m_theme);
    m_help->setTheme(m_theme);
}

WindowSettings MainWindow::settings() const
{
    WindowSettings settings = m_setup.settings;
    settings.geometry = saveGeometry();
    settings.layouts = m_docks->layouts();
    settings.perspective = m_docks->perspective();
    return settings;
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (!m_sessions->mayClose([this] { close(); })) return event->ignore();
    emit settingsChanged(settings());
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    const RecentFile entry = m_sessions->dropped(event->mimeData()->urls());
    if (entry.file.isEmpty())
        return m_notices->sayFailure(tr("Opening"), tr("drop a model as well: data alone cannot be opened"), {});
    event->acceptProposedAction();
    m_sessions->openDropped(entry);
}

}  // namespace hopscope::window
