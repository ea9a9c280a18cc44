#include "graphview/view/graph_actions.h"

#include <QActionGroup>
#include <QHash>

#include "base/rules.h"
#include "models/labels.h"

namespace hopscope::graphview {

namespace {

constexpr qreal zoomStep = 1.25;

bool isBare(const QKeySequence& keys)
{
    if (keys.isEmpty()) return false;
    const QKeyCombination first = keys[0];
    const bool modified = first.keyboardModifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier);
    return !modified && (first.key() < Qt::Key_F1 || first.key() > Qt::Key_F35);
}

}  // namespace

GraphTools::GraphTools(const GraphParts& parts)
    : targets(parts),
      overlays(parts.view),
      placement(parts.view),
      colours(parts, overlays),
      folds(parts, targets, placement),
      marks(parts, targets),
      bookmarks(parts, targets),
      breakpoints(parts, targets),
      search(parts, targets, overlays),
      cuts(parts, targets, colours),
      navigator(parts, targets, folds),
      split(parts, colours)
{}

GraphActions::GraphActions(const GraphParts& parts, GraphTools& tools, QObject* parent)
    : QObject(parent),
      m_parts(parts),
      m_tools(tools)
{
    addZoom();
    addFolds();
    addSearch();
    addWalks();
    addBookmarks();
    addTensor();
    addCuts();
    addComparisons();
    addColours();
}

QAction* GraphActions::add(const char* name, const QString& text, const QKeySequence& key, const QString& tip,
                           std::function<void()> run)
{
    auto* action = new QAction(text, &m_parts.panel);
    action->setObjectName(QLatin1String(name));
    action->setShortcut(key);
    action->setToolTip(tip);
    action->setStatusTip(tip);
    action->setProperty(submenuProperty, m_submenu);
    connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
    // Letters and arrows go to the focused widget; keys that no other widget uses act from everywhere.
    const bool own = isBare(key);
    action->setShortcutContext(own ? Qt::WidgetShortcut : Qt::WindowShortcut);
    (own ? static_cast<QWidget&>(m_parts.view) : m_parts.panel).addAction(action);
    m_all << action;
    return action;
}

void GraphActions::addZoom()
{
    m_submenu = tr("&Zoom");
    add("graphZoomIn", tr("Zoom In"), QKeySequence::ZoomIn, tr("Enlarge the graph"),
        [this] { m_parts.view.viewport().zoomBy(zoomStep); });
    add("graphZoomOut", tr("Zoom Out"), QKeySequence::ZoomOut, tr("Show more of the graph"),
        [this] { m_parts.view.viewport().zoomBy(1 / zoomStep); });
    add("graphActualSize", tr("Actual Size"), QKeySequence(Qt::CTRL | Qt::Key_0), tr("Show the graph at 100 %"),
        [this] { m_parts.view.viewport().zoomBy(1 / m_parts.view.camera().scale); });
    add("graphFit", tr("Fit"), QKeySequence(Qt::Key_F), tr("Show the whole graph"),
        [this] { m_parts.view.viewport().fit(); });
    add("graphShowSelection", tr("Show Selection"), QKeySequence(Qt::Key_Period), tr("Scroll to the selection"),
        [this] { m_tools.navigator.revealSelection(); });
}

void GraphActions::addFolds()
{
    m_submenu = tr("&Modules");
    add("graphExpand", tr("Expand Module"), QKeySequence(Qt::Key_Plus), tr("Show the contents of the selected module"),
        [this] { m_tools.folds.open(m_tools.targets.selectedNode()); });
    add("graphCollapse", tr("Collapse Module"), QKeySequence(Qt::Key_Minus),
        tr("Collapse the module around the selected node"),
        [this] { m_tools.folds.closeAround(m_tools.targets.selectedNode()); });
    add("graphExpandAll", tr("Expand All Modules"), QKeySequence(Qt::SHIFT | Qt::Key_Plus),
        tr("Show the operators of all modules"), [this] { m_tools.folds.openAll(); });
    add("graphCollapseAll", tr("Collapse All Modules"), QKeySequence(Qt::SHIFT | Qt::Key_Minus),
        tr("Show top-level modules"), [this] { m_tools.folds.closeAll(); });
    add("graphFoldLayers", tr("Fold to Layers"), QKeySequence(Qt::Key_L), tr("The default level of detail"),
        [this] { m_tools.folds.foldToLayers(); });
    m_everyOperator =
        add("graphEveryOperator", tr("Every Operator"), {},
            tr("Show every operator as a node of its own, including reshapes, casts, biases and the prologue"),
            [this] { m_tools.folds.showEveryOperator(m_everyOperator->isChecked()); });
    m_everyOperator->setCheckable(true);
}

void GraphActions::addSearch()
{
    m_submenu = tr("&Find");
    add("graphFind", tr("Find in Graph…"), QKeySequence::Find, tr("Search operators by name, module or shape"),
        [this] { m_tools.search.open(); });
    add("graphFindNext", tr("Find Next"), QKeySequence(Qt::Key_F3), tr("Go to the next operator found"),
        [this] { m_tools.search.step(1); });
    add("graphFindPrevious", tr("Find Previous"), QKeySequence(Qt::SHIFT | Qt::Key_F3),
        tr("Go to the previous operator found"), [this] { m_tools.search.step(-1); });
}

void GraphActions::addWalks()
{
    m_submenu = tr("&Go");
    add("graphUp", tr("Go to Producer"), QKeySequence(Qt::Key_Up), tr("Select a producer of the selected node"),
        [this] { m_tools.navigator.step(Step::Up); });
    add("graphDown", tr("Go to Consumer"), QKeySequence(Qt::Key_Down), tr("Select a consumer of the selected node"),
        [this] { m_tools.navigator.step(Step::Down); });
    add("graphLeft", tr("Go Left"), QKeySequence(Qt::Key_Left), tr("Select the node to the left"),
        [this] { m_tools.navigator.step(Step::Left); });
    add("graphRight", tr("Go Right"), QKeySequence(Qt::Key_Right), tr("Select the node to the right"),
        [this] { m_tools.navigator.step(Step::Right); });
    add("graphBack", tr("Back"), QKeySequence(Qt::ALT | Qt::Key_Left), tr("Go back to the previous selection"),
        [this] { m_parts.selection.back(), m_tools.navigator.revealSelection(); });
    add("graphForward", tr("Forward"), QKeySequence(Qt::ALT | Qt::Key_Right), tr("Go forward to the next selection"),
        [this] { m_parts.selection.forward(), m_tools.navigator.revealSelection(); });
}

void GraphActions::addBookmarks()
{
    add("graphBookmark", tr("Set or Remove Bookmark"), QKeySequence(Qt::CTRL | Qt::Key_B),
        tr("Bookmark the selected node, or remove its bookmark"), [this] { m_tools.bookmarks.toggle(); });
    add("graphNextBookmark", tr("Next Bookmark"), QKeySequence(Qt::Key_B), tr("Go to the next bookmark"),
        [this] { m_tools.bookmarks.next(); });
}

void GraphActions::addTensor()
{
    m_submenu = {};
    add("graphTensor", tr("Show the Tensor"), QKeySequence(Qt::Key_T), tr("Show the numbers of the selected value"),
        [this] {
            const ValueId value = m_tools.targets.selectedValue();
            if (!value.valid()) return emit m_parts.panel.contextHelpRequested(tr("Select a node or an edge first."));
            emit m_parts.panel.tensorRequested(value);
        });
}

void GraphActions::addCuts()
{
    m_submenu = tr("&Pin");
    add("graphStore", tr("Store Here"), QKeySequence(Qt::Key_S), tr("Store the selected value between stages"),
        [this] { m_tools.cuts.pinSelected(base::PinKind::Checkpoint); });
    add("graphNeverStore", tr("Never Store"), QKeySequence(Qt::Key_N),
        tr("Recompute the selected value where it is needed"),
        [this] { m_tools.cuts.pinSelected(base::PinKind::NoCheckpoint); });
    add("graphLetPlan", tr("Let the Strategy Decide"), QKeySequence(Qt::Key_U),
        tr("Remove the pins of the selected value"), [this] { m_tools.cuts.unpinSelected(); });
    QAction* remove = add("graphRemoveStore", tr("Remove Stored Value"), QKeySequence(Qt::Key_Delete),
                          tr("Do not store the selected value any longer"), [this] { m_tools.cuts.removeSelected(); });
    remove->setShortcuts({QKeySequence(Qt::Key_Delete), QKeySequence(Qt::Key_Backspace)});
    add("graphAllUses", tr("Show All Uses"), QKeySequence(Qt::Key_A), tr("Highlight all uses of a shared input"),
        [this] {
            if (const int node = m_tools.targets.selectedNode(); node >= 0) m_tools.marks.toggleUses(node);
        });
}

void GraphActions::addComparisons()
{
    m_submenu = tr("&Compare");
    using base::Strategy;
    auto* group = new QActionGroup(this);
    const auto comparison = [&](const char* name, const QString& text, const QString& tip,
                                std::optional<Strategy> strategy) {
        QAction* action = add(name, text, {}, tip, [this, strategy] { m_tools.split.compareWith(strategy); });
        action->setCheckable(true);
        action->setChecked(!strategy);
        group->addAction(action);
        m_comparisons << action;
    };
    comparison("graphCompareNothing", tr("Your Plan Alone"), tr("Show one graph"), std::nullopt);
    comparison("graphCompareOptimum", tr("Beside the Optimum"), tr("Show the optimal plan next to yours"),
               Strategy::Optimal);
    for (const Strategy rule : base::rules) {
        const QString label = models::strategyLabel(rule), name = models::capitalised(label.section(u' ', 0, 0));
        comparison(("graphCompare" + name.toStdString()).c_str(),
                   tr("Beside the %1 %2").arg(name, models::capitalised(label.section(u' ', 1))),
                   tr("Show the plan of the %1 next to yours").arg(label), rule);
    }
}

void GraphActions::addColours()
{
    m_submenu = tr("C&olour");
    auto* group = new QActionGroup(this);
    for (int i = 0; i < modeCount; ++i) {
        const auto mode = static_cast<ColourMode>(i);
        QAction* action = add(qPrintable(QStringLiteral("graphColour_") + modeKey(mode)), modeName(mode),
                              QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key(Qt::Key_1 + i)), {}, [this, mode] {
                                  m_tools.colours.setMode(mode);
                                  m_tools.split.refresh();
                              });
        action->setProperty(fullNameProperty, tr("Colour by %1").arg(modeName(mode).toLower()));
        action->setCheckable(true);
        action->setChecked(mode == m_tools.colours.mode());
        group->addAction(action);
    }
}

QList<QAction*> GraphActions::colours() const { return m_all.last(modeCount); }

QList<QAction*> GraphActions::folds() const
{
    QList<QAction*> folds;
    for (QAction* action : m_all)
        for (const char* name : {"graphFoldLayers", "graphExpandAll", "graphCollapseAll", "graphEveryOperator"})
            if (action->objectName() == QLatin1String(name)) folds << action;
    return folds;
}

void GraphActions::showFold(const FoldState& state) { m_everyOperator->setChecked(state.everyOperator); }

// The menu can show keys, because keys act on the selection and a menu's target is selected by the click.
void GraphActions::showKeys(QMenu& menu) const
{
    static const QHash<QString, QString> same{{QStringLiteral("pin.checkpoint"), QStringLiteral("graphStore")},
                                              {QStringLiteral("pin.no_checkpoint"), QStringLiteral("graphNeverStore")}};
    for (QAction* shown : menu.actions()) {
        const QString name = same.value(shown->objectName(), shown->objectName());
        const auto known = std::ranges::find(m_all, name, &QAction::objectName);
        if (known == m_all.end() || name.isEmpty() || *known == shown) continue;
        shown->setShortcut((*known)->shortcut());
        shown->setShortcutVisibleInContextMenu(true);
    }
}

void GraphActions::showMenu(const Hit& hit, QPoint global)
{
    if (!m_parts.view.scene()) return;
    Hit at = hit;
    const int selected = m_tools.targets.selectedNode();
    if (at.kind == Hit::Kind::Nothing && selected >= 0) at = {Hit::Kind::Node, selected};
    auto* menu = new QMenu(&m_parts.panel);
    menu->setObjectName(QStringLiteral("graphMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setToolTipsVisible(true);
    m_tools.cuts.addToMenu(*menu, at);
    fillMenu(*menu, at);
    menu->addSeparator();
    menu->addAction(tr("Fit"), &m_parts.view.viewport(), &Viewport::fit)->setObjectName(QStringLiteral("graphFit"));
    showKeys(*menu);
    menu->popup(global);
}

void GraphActions::fillMenu(QMenu& menu, const Hit& at)
{
    const ScenePtr& scene = m_parts.view.scene();
    FoldControl* folds = &m_tools.folds;
    const bool node = at.kind == Hit::Kind::Node || at.kind == Hit::Kind::Expander;
    const auto add = [&](const char* keysOf, const QString& text, auto run) {
        menu.addAction(text, this, run)->setObjectName(QLatin1String(keysOf));
    };
    if (node && !scene->graph->nodes[at.index].expands.isEmpty())
        add("graphExpand", tr("Open"), [folds, at] { folds->open(at.index); });
    if (node && folds->isInModule(at.index))
        add("graphCollapse", tr("Collapse Its Module"), [folds, at] { folds->closeAround(at.index); });
    if (at.kind == Hit::Kind::Frame) add("graphCloseFrame", tr("Close"), [folds, at] { folds->close(at.index); });
    const int source = at.kind == Hit::Kind::Stub ? scene->stubs[at.index].source : node ? at.index : -1;
    const auto fromSource = [source](const SceneStub& stub) { return stub.source == source; };
    if (std::ranges::any_of(scene->stubs, fromSource))
        add("graphAllUses", tr("Show All Uses"), [this, source] { m_tools.marks.toggleUses(source); });
    if (const ValueId value = node ? m_tools.targets.valueOfNode(at.index) : ValueId();
        value.valid() && m_parts.document.plan())
        add("graphTensor", tr("Show Its Tensor"), [this, value] { emit m_parts.panel.tensorRequested(value); });
    if (node) m_tools.breakpoints.addToMenu(menu, at.index);
    if (node) add("graphBookmark", tr("Set or Remove Bookmark"), [this] { m_tools.bookmarks.toggle(); });
}

}  // namespace hopscope::graphview
