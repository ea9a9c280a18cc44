#include <QHBoxLayout>
#include <QMenu>

#include "graphview/view/graph_controller.h"
#include "models/labels.h"

namespace hopscope::graphview {

using models::Target;

namespace {

constexpr qreal zoomStep = 1.25;

}  // namespace

QAction* GraphController::add(const char* name, const QString& text, const QKeySequence& key, const QString& tip,
                              std::function<void()> run)
{
    auto* action = new QAction(text, &m_panel);
    action->setObjectName(QLatin1String(name));
    action->setShortcut(key);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    action->setToolTip(tip);
    action->setStatusTip(tip);
    connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
    m_panel.addAction(action);
    m_actions << action;
    return action;
}

void GraphController::setupActions()
{
    setupZoomActions();
    setupFoldActions();
    setupSearchActions();
    setupWalkActions();
    setupCutActions();
    setupColourActions();
    setupStrip();
}

void GraphController::setupZoomActions()
{
    add("graphZoomIn", tr("Zoom in"), QKeySequence::ZoomIn, tr("Enlarge the graph"),
        [this] { m_view->zoomBy(zoomStep); });
    add("graphZoomOut", tr("Zoom out"), QKeySequence::ZoomOut, tr("Show more of the graph"),
        [this] { m_view->zoomBy(1 / zoomStep); });
    add("graphActualSize", tr("Actual size"), QKeySequence(Qt::CTRL | Qt::Key_0), tr("Show the graph at 100 %"),
        [this] { m_view->zoomBy(1 / m_view->camera().scale); });
    add("graphFit", tr("Fit"), QKeySequence(Qt::Key_F), tr("Show the whole graph"), [this] { m_view->fit(); });
    add("graphShowSelection", tr("Show selection"), QKeySequence(Qt::Key_Period), tr("Scroll to what is selected"),
        [this] { reveal(m_selection.current()); });
}

void GraphController::setupFoldActions()
{
    add("graphExpand", tr("Expand module"), QKeySequence(Qt::Key_Plus), tr("Show the contents of the selected module"),
        [this] { expandNode(selectedNode()); });
    add("graphCollapse", tr("Collapse module"), QKeySequence(Qt::Key_Minus),
        tr("Collapse the module around the selected node"), [this] { collapseAround(selectedNode()); });
    add("graphExpandAll", tr("Expand all modules"), QKeySequence(Qt::SHIFT | Qt::Key_Plus), tr("Show all operators"),
        [this] {
            if (!m_maker.ready()) return;
            FoldState state = fullyExpanded(m_maker.fold());
            state.everyOperator = m_maker.state().everyOperator;
            m_fitNext = true;
            m_maker.setFold(std::move(state));
        });
    add("graphCollapseAll", tr("Collapse all modules"), QKeySequence(Qt::SHIFT | Qt::Key_Minus),
        tr("Show top-level modules"), [this] { m_fitNext = true, m_maker.setFold({}); });
    add("graphFoldLayers", tr("Fold to layers"), QKeySequence(Qt::Key_L), tr("The default level of detail"), [this] {
        if (!m_maker.ready()) return;
        m_fitNext = true;
        m_maker.setFold(initialFold(m_maker.fold()));
    });
    m_everyOperator =
        add("graphEveryOperator", tr("Every operator"), {}, tr("Also show reshapes, casts and biases"), [this] {
            FoldState state = m_maker.state();
            state.everyOperator = m_everyOperator->isChecked();
            m_maker.setFold(std::move(state));
        });
    m_everyOperator->setCheckable(true);
}

void GraphController::setupSearchActions()
{
    add("graphFind", tr("Find in graph..."), QKeySequence::Find, tr("Search operators and modules"), [this] {
        m_searchBar->open();
        placeOverlays();
    });
    add("graphFindNext", tr("Find next"), QKeySequence(Qt::Key_F3), tr("Go to the next operator found"),
        [this] { searchStep(1); });
    add("graphFindPrevious", tr("Find previous"), QKeySequence(Qt::SHIFT | Qt::Key_F3),
        tr("Go to the previous operator found"), [this] { searchStep(-1); });
}

void GraphController::setupWalkActions()
{
    add("graphUp", tr("Go to producer"), QKeySequence(Qt::Key_Up), tr("Select a producer of the selected node"),
        [this] { step(Step::Up); });
    add("graphDown", tr("Go to consumer"), QKeySequence(Qt::Key_Down), tr("Select a consumer of the selected node"),
        [this] { step(Step::Down); });
    add("graphLeft", tr("Go left"), QKeySequence(Qt::Key_Left), tr("Select the node to the left"),
        [this] { step(Step::Left); });
    add("graphRight", tr("Go right"), QKeySequence(Qt::Key_Right), tr("Select the node to the right"),
        [this] { step(Step::Right); });
    add("graphBack", tr("Back"), QKeySequence(Qt::ALT | Qt::Key_Left), tr("Go back to the previous selection"),
        [this] { m_selection.back(), reveal(m_selection.current()); });
    add("graphForward", tr("Forward"), QKeySequence(Qt::ALT | Qt::Key_Right), tr("Go forward to the next selection"),
        [this] { m_selection.forward(), reveal(m_selection.current()); });
    add("graphBookmark", tr("Set or remove bookmark"), QKeySequence(Qt::CTRL | Qt::Key_B),
        tr("Bookmark the selected node"), [this] { toggleBookmark(); });
    add("graphNextBookmark", tr("Next bookmark"), QKeySequence(Qt::Key_B), tr("Go to the next bookmark"),
        [this] { nextBookmark(); });
}

void GraphController::setupCutActions()
{
    add("graphStore", tr("Store here"), QKeySequence(Qt::Key_S), tr("Store the selected value between stages"),
        [this] { pin(base::PinKind::Checkpoint, selectedValue()); });
    add("graphNeverStore", tr("Never store"), QKeySequence(Qt::Key_N),
        tr("Recompute the selected value where it is needed"),
        [this] { pin(base::PinKind::NoCheckpoint, selectedValue()); });
    add("graphLetPlan", tr("Let the strategy decide"), QKeySequence(Qt::Key_U),
        tr("Remove the pin of the selected value"), [this] { unpin(selectedValue()); });
    QAction* remove =
        add("graphRemoveStore", tr("Remove checkpoint"), QKeySequence(Qt::Key_Delete),
            tr("Do not store the selected checkpoint"), [this] {
                const int value = selectedValue();
                if (value >= 0 && m_maker.plan() && m_maker.plan()->checkpointOf(protocol::ValueId(value)))
                    return pin(base::PinKind::NoCheckpoint, value);
                emit m_panel.contextHelpRequested(tr("Select a checkpoint first."));
            });
    remove->setShortcuts({QKeySequence(Qt::Key_Delete), QKeySequence(Qt::Key_Backspace)});
    add("graphAllUses", tr("Show all uses"), QKeySequence(Qt::Key_A), tr("Highlight all uses of a shared input"),
        [this] {
            if (const int node = selectedNode(); node >= 0) showUses(node);
        });
}

void GraphController::setupColourActions()
{
    m_modeGroup = new QActionGroup(this);
    for (int i = 0; i < modeCount; ++i) {
        const auto mode = static_cast<ColourMode>(i);
        QAction* action =
            add(qPrintable(QStringLiteral("graphColour_") + modeKey(mode)), modeName(mode),
                QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key(Qt::Key_1 + i)), {}, [this, mode] { setColourMode(mode); });
        action->setCheckable(true);
        action->setChecked(mode == m_mode);
        m_modeGroup->addAction(action);
        m_modeActions[i] = action;
    }
}

void GraphController::setupStrip()
{
    m_strip = new Card(m_view);
    m_strip->setObjectName(QStringLiteral("graphStrip"));
    auto* row = new QHBoxLayout(m_strip);
    row->setContentsMargins(6, 2, 6, 2);
    row->setSpacing(2);
    addStripMenu("graphColourButton", tr("Colour by"), m_modeGroup->actions());
    QList<QAction*> folds;
    for (QAction* action : m_actions)
        for (const char* name : {"graphFoldLayers", "graphExpandAll", "graphCollapseAll", "graphEveryOperator"})
            if (action->objectName() == QLatin1String(name)) folds << action;
    addStripMenu("graphFoldButton", tr("Fold"), folds);
    connect(addStripButton("graphFitButton", tr("Fit")), &QToolButton::clicked, m_view, &GraphView::fit);
    m_zoomLabel = addStripButton("graphZoomButton", tr("%1 %").arg(100));
    connect(m_zoomLabel, &QToolButton::clicked, this, [this] { m_view->zoomBy(1 / m_view->camera().scale); });
}

QToolButton* GraphController::addStripButton(const char* name, const QString& text)
{
    auto* button = new QToolButton(m_strip);
    button->setObjectName(QLatin1String(name));
    button->setText(text);
    button->setFont(detailFont());
    button->setAccessibleName(text);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::TabFocus);
    m_strip->layout()->addWidget(button);
    return button;
}

void GraphController::addStripMenu(const char* name, const QString& text, const QList<QAction*>& actions)
{
    QToolButton* button = addStripButton(name, text + QStringLiteral(" \u25be"));
    button->setAccessibleName(text);
    auto* menu = new QMenu(button);
    menu->setToolTipsVisible(true);
    menu->addActions(actions);
    connect(button, &QToolButton::clicked, menu,
            [button, menu] { menu->popup(button->mapToGlobal(QPoint(0, -menu->sizeHint().height()))); });
}

void GraphController::step(Step direction)
{
    const ScenePtr& scene = m_view->scene();
    if (!scene) return;
    const int next = walk(*scene, selectedNode(), direction);
    if (next < 0) return;
    m_selection.select(targetOf({Hit::Kind::Node, next}));
    m_view->scrollTo(scene->nodes[next]);
}

void GraphController::showMenu(const Hit& hit, QPoint global)
{
    const ScenePtr& scene = m_view->scene();
    if (!scene) return;
    Hit at = hit;
    if (at.kind == Hit::Kind::Nothing && selectedNode() >= 0) at = {Hit::Kind::Node, selectedNode()};
    auto* menu = new QMenu(&m_panel);
    menu->setObjectName(QStringLiteral("graphMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setToolTipsVisible(true);
    addCutMenu(*menu, at);
    const bool node = at.kind == Hit::Kind::Node || at.kind == Hit::Kind::Expander;
    if (node && !scene->graph.nodes[at.index].expands.isEmpty())
        menu->addAction(tr("Open"), this, [this, at] { expandNode(at.index); });
    if (node && !enclosing(m_maker.fold(), m_maker.state(), scene->graph.nodes[at.index]).isEmpty())
        menu->addAction(tr("Collapse the module around it"), this, [this, at] { collapseAround(at.index); });
    if (at.kind == Hit::Kind::Frame) menu->addAction(tr("Close"), this, [this, at] { collapseFrame(at.index); });
    const int source = at.kind == Hit::Kind::Stub ? scene->stubs[at.index].source : node ? at.index : -1;
    const auto fromSource = [source](const SceneStub& stub) { return stub.source == source; };
    if (std::any_of(scene->stubs.begin(), scene->stubs.end(), fromSource))
        menu->addAction(tr("Show all uses"), this, [this, source] { showUses(source); });
    if (node) menu->addAction(tr("Set or remove bookmark"), this, &GraphController::toggleBookmark);
    menu->addSeparator();
    menu->addAction(tr("Fit"), m_view, &GraphView::fit);
    menu->popup(global);
}

void GraphController::toggleBookmark()
{
    const Target target = m_selection.current();
    if (target.kind == Target::Kind::None) return emit m_panel.contextHelpRequested(tr("Select something first."));
    const bool removed = m_bookmarks.removeOne(target);
    if (!removed) m_bookmarks << target;
    markBookmarks();
    emit m_panel.contextHelpRequested(removed ? tr("Bookmark removed.")
                                              : tr("Bookmark set: B cycles through the bookmarks."));
}

void GraphController::markBookmarks()
{
    const ScenePtr& scene = m_view->scene();
    if (!scene) return;
    std::vector<char>& marked = m_view->state().bookmarked;
    marked.assign(m_bookmarks.isEmpty() ? 0 : scene->nodes.size(), 0);
    for (const Target& target : m_bookmarks)
        if (const int node = nodeOf(target); node >= 0) marked[node] = 1;
    m_view->update();
}

void GraphController::nextBookmark()
{
    if (m_bookmarks.isEmpty()) return emit m_panel.contextHelpRequested(tr("No bookmarks yet: set one with Ctrl+B."));
    m_bookmarkAt = static_cast<int>((m_bookmarkAt + 1) % m_bookmarks.size());
    m_selection.select(m_bookmarks[m_bookmarkAt]);
    reveal(m_bookmarks[m_bookmarkAt]);
}

}  // namespace hopscope::graphview
