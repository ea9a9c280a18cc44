#include "graphview/view/graph_controller.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "graphview/fold/fold_builder.h"
#include "models/labels.h"

namespace hopscope::graphview {

using models::Target;

GraphController::GraphController(models::Document& document, models::Selection& selection, GraphPanel& panel)
    : QObject(&panel),
      m_document(document),
      m_selection(selection),
      m_panel(panel),
      m_maker(this),
      m_view(new GraphView(&panel)),
      m_legend(new Legend(m_view)),
      m_minimap(new Minimap(m_view)),
      m_searchBar(new SearchBar(m_view)),
      m_theme(style::loadTheme(style::Mode::Auto))
{
    setupView();
    setupActions();
    connectDocument();
    connectView();
    takeModel();
}

void GraphController::setupView()
{
    auto* column = new QVBoxLayout(&m_panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_view);
    m_panel.setFocusProxy(m_view);
    m_legend->hide();
    m_minimap->hide();
    m_searchBar->setTheme(m_theme);
    m_view->setReserved(66);
}

void GraphController::connectDocument()
{
    connect(&m_document, &models::Document::modelChanged, this, &GraphController::takeModel);
    connect(&m_document, &models::Document::planChanged, this, [this] {
        m_maker.setPlan(m_document.plan());
        refreshModes();
        if (!m_maker.busy()) recolour();
    });
    connect(&m_document, &models::Document::previewChanged, this, &GraphController::showPreview);
    connect(&m_document, &models::Document::runsChanged, this, [this] {
        refreshModes();
        recolour();
    });
    connect(&m_document, &models::Document::runChanged, this, [this] {
        m_view->state().run = m_document.runLog().get();
        if (const auto& log = m_document.runLog())
            connect(log.get(), &models::RunLog::updated, m_view, qOverload<>(&QWidget::update));
        m_view->update();
    });
    connect(&m_selection, &models::Selection::changed, this, &GraphController::showSelection);
    connect(&m_selection, &models::Selection::hoverChanged, this, &GraphController::showHover);
    connect(&m_selection, &models::Selection::revealRequested, this, &GraphController::reveal);
    connect(&m_maker, &SceneMaker::sceneChanged, this, &GraphController::takeScene);
}

void GraphController::connectView()
{
    connect(m_view, &GraphView::clicked, this, [this](Hit hit) {
        const Target target = targetOf(hit);
        if (hit.kind == Hit::Kind::Stub) showUses(m_view->scene()->stubs[hit.index].source);
        if (target.kind != Target::Kind::None || m_selection.current().kind != Target::Kind::None)
            m_selection.select(target);
    });
    connect(m_view, &GraphView::hovered, this, [this](Hit hit) { m_selection.hover(targetOf(hit)); });
    connect(m_view, &GraphView::activated, this, &GraphController::activate);
    connect(m_view, &GraphView::menuRequested, this, &GraphController::showMenu);
    connect(m_view, &GraphView::storeDragged, this, &GraphController::dragOver);
    connect(m_view, &GraphView::storeDropped, this, &GraphController::dropOn);
    connect(m_view, &GraphView::dragEnded, &m_panel, &GraphPanel::dragEnded);
    connect(m_view, &GraphView::cameraChanged, this, &GraphController::placeOverlays);
    connect(m_minimap, &Minimap::jumped, this, [this](QPointF at) {
        Camera camera = m_view->camera();
        camera.offset = QRectF(m_view->rect()).center() - at * camera.scale;
        m_view->setCamera(camera);
    });
    connect(m_searchBar, &SearchBar::queryChanged, this, &GraphController::search);
    connect(m_searchBar, &SearchBar::stepped, this, &GraphController::searchStep);
    connect(m_searchBar, &SearchBar::closed, this, &GraphController::closeSearch);
}

void GraphController::takeModel()
{
    m_bookmarks.clear();
    m_found.clear();
    m_keep.reset();
    m_revealNext.reset();
    m_cameraNext.reset();
    m_fitNext = true;
    m_view->state().run = m_document.runLog().get();
    const models::ModelPtr model = m_document.model();
    m_view->setMessage(model ? tr("Laying out the graph...") : tr("No model is open."));
    m_maker.setModel(model, m_document.parts());
    m_maker.setPlan(m_document.plan());
    if (m_everyOperator) m_everyOperator->setChecked(m_maker.state().everyOperator);
    refreshModes();
}

void GraphController::takeScene()
{
    const ScenePtr& scene = m_maker.scene();
    std::optional<GraphView::Anchor> anchor;
    if (scene && m_keep) {
        for (std::size_t i = 0; i < scene->frames.size(); ++i)
            if (scene->graph.frames[i].path == m_keep->frame && !scene->frames[i].isNull())
                anchor = {m_keep->before, QPointF(scene->frames[i].center().x(), scene->frames[i].top())};
        const int node = scene->graph.nodeByKey(m_keep->key);
        if (!anchor && node >= 0)
            anchor = {m_keep->before, QPointF(scene->nodes[node].center().x(), scene->nodes[node].top())};
    }
    m_keep.reset();
    m_view->setScene(scene, anchor, !m_fitNext);
    recolour();
    if (scene && std::exchange(m_fitNext, false)) m_view->showStart();
    if (m_cameraNext) m_view->setCamera(*std::exchange(m_cameraNext, std::nullopt));
    showSelection();
    markBookmarks();
    markFound();
    if (m_revealNext) reveal(*std::exchange(m_revealNext, std::nullopt));
    placeOverlays();
    emit m_panel.layoutFinished();
}

void GraphController::recolour()
{
    const ScenePtr& scene = m_view->scene();
    if (!scene) return m_legend->hide(), m_minimap->hide();
    const schema::Report* report = m_document.runs().empty() ? nullptr : m_document.runs().back().report.get();
    const ColourData data{m_maker.model().get(), m_maker.plan().get(), report};
    Colouring colouring = colourNodes(*scene, m_mode, data, m_theme);
    const bool again = std::any_of(scene->staging.again.begin(), scene->staging.again.end(),
                                   [](const auto& stages) { return !stages.empty(); });
    const bool pinned = m_maker.plan() && !m_maker.plan()->pins.empty();
    m_legend->display(colouring, m_theme, {!scene->stores.empty(), again, pinned});
    m_minimap->display(scene, colouring, m_theme);
    m_view->setColouring(std::move(colouring));
    placeOverlays();
}

void GraphController::refreshModes()
{
    const schema::Report* report = m_document.runs().empty() ? nullptr : m_document.runs().back().report.get();
    const ColourData data{m_document.model().get(), m_document.plan().get(), report};
    for (int i = 0; i < modeCount; ++i) {
        const QString reason = whyUnavailable(static_cast<ColourMode>(i), data);
        m_modeActions[i]->setEnabled(reason.isEmpty());
        m_modeActions[i]->setToolTip(reason.isEmpty() ? tr("Colour by %1").arg(m_modeActions[i]->text().toLower())
                                                      : reason);
        m_modeActions[i]->setStatusTip(reason);
    }
    if (!m_modeActions[static_cast<int>(m_mode)]->isEnabled() && data.model) setColourMode(ColourMode::Depth);
}

void GraphController::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    m_view->setTheme(theme);
    m_strip->setTheme(theme);
    m_searchBar->setTheme(theme);
    recolour();
}

void GraphController::setColourMode(ColourMode mode)
{
    m_mode = mode;
    m_modeActions[static_cast<int>(mode)]->setChecked(true);
    recolour();
}

void GraphController::placeOverlays()
{
    constexpr int gap = 14, narrow = 420, low = 340;
    const QSize room = m_view->size();
    m_legend->move(gap, room.height() - m_legend->height() - gap);
    m_minimap->move(room.width() - m_minimap->width() - gap, room.height() - m_minimap->height() - gap);
    m_searchBar->move(room.width() - m_searchBar->width() - gap, gap);
    m_minimap->follow(m_view->camera().toScene(QRectF(m_view->rect())));
    if (!m_strip) return;
    m_zoomLabel->setText(tr("%1 %").arg(qRound(m_view->camera().scale * 100)));
    m_strip->adjustSize();
    // Where the graph is narrow it is worth more than what explains it.
    const bool shown = m_view->scene() != nullptr;
    const bool legend = shown && room.height() >= low && m_legend->width() + 2 * gap <= room.width();
    m_legend->setVisible(legend);
    m_minimap->setVisible(shown && room.width() >= narrow && room.height() >= low);
    m_strip->setVisible(shown);
    const int free = legend ? m_legend->width() + 2 * gap : gap;
    const int left = std::max(free, (room.width() - m_strip->width()) / 2);
    const bool fits = left + m_strip->width() + m_minimap->width() + 2 * gap < room.width();
    const int above = room.height() - (legend ? m_legend->height() + gap : 0) - m_strip->height() - gap;
    m_strip->move(fits ? left : gap, fits ? room.height() - m_strip->height() - gap : above);
    m_view->setReserved(room.height() - (fits ? m_legend->y() : above));
    // Not over the legend, nor over the strip above it.
    const bool beside = free + m_minimap->width() + gap <= room.width();
    if (!beside) m_minimap->move(m_minimap->x(), above - m_minimap->height() - gap);
}

Target GraphController::targetOf(const Hit& hit) const
{
    const ScenePtr& scene = m_view->scene();
    if (!scene) return {};
    switch (hit.kind) {
    case Hit::Kind::Node:
    case Hit::Kind::Expander: {
        const VisibleNode& node = scene->graph.nodes[hit.index];
        if (node.module >= 0) return Target::moduleAt(m_maker.fold().tree.modules[node.module].path);
        return Target::op(protocol::OpId(node.op));
    }
    case Hit::Kind::Frame: return Target::moduleAt(scene->graph.frames[hit.index].path);
    case Hit::Kind::Edge: return Target::value(protocol::ValueId(scene->edges[hit.index].values.front()));
    case Hit::Kind::Store: return Target::value(protocol::ValueId(scene->stores[hit.index].value));
    case Hit::Kind::Stub: return Target::value(protocol::ValueId(scene->stubs[hit.index].values.front()));
    case Hit::Kind::Nothing: return {};
    }
    return {};
}

int GraphController::nodeOf(const Target& target) const
{
    const ScenePtr& scene = m_view->scene();
    if (!scene) return -1;
    const auto& nodeOf = scene->graph.nodeOf;
    int op = -1;
    if (target.kind == Target::Kind::Op) op = target.index;
    if (target.kind == Target::Kind::Value && target.index < static_cast<int>(m_maker.model()->values.size()))
        op = m_maker.model()->values[target.index].producer.index;
    if (target.kind == Target::Kind::Module) {
        const int module = m_maker.fold().tree.find(target.module);
        op = module < 0 ? -1 : m_maker.fold().tree.modules[module].firstOp.index;
    }
    return op >= 0 && op < static_cast<int>(nodeOf.size()) ? nodeOf[op] : -1;
}

// What a node hands on: the last result of its operators that something outside of it uses.
int GraphController::valueOfNode(int node) const
{
    const ScenePtr& scene = m_view->scene();
    const auto& ops = scene->graph.nodes[node].ops;
    const protocol::ModelRecord& model = *m_maker.model();
    for (auto op = ops.rbegin(); op != ops.rend(); ++op)
        for (const auto [value] : model.ops[*op].outputs)
            for (const auto [consumer] : model.values[value].consumers)
                if (scene->graph.nodeOf[consumer] != node && !model.ops[consumer].structureOnly) return value;
    if (scene->graph.nodes[node].shape == Shape::Output && !model.ops[ops.front()].inputs.empty())
        return model.ops[ops.front()].inputs.front().index;
    return -1;
}

int GraphController::valueOf(const Hit& hit) const
{
    if (hit.kind == Hit::Kind::Node || hit.kind == Hit::Kind::Expander) return valueOfNode(hit.index);
    if (hit.kind == Hit::Kind::Edge || hit.kind == Hit::Kind::Store) return targetOf(hit).index;
    return -1;
}

int GraphController::selectedValue() const
{
    const Target& target = m_selection.current();
    if (target.kind == Target::Kind::Value) return target.index;
    const int node = selectedNode();
    return node < 0 ? -1 : valueOfNode(node);
}

void GraphController::showSelection()
{
    const ScenePtr& scene = m_view->scene();
    if (!scene) return;
    PaintState& state = m_view->state();
    const Target& target = m_selection.current();
    state.selected.assign(scene->nodes.size(), 0);
    state.selectedEdge = state.selectedStore = -1;
    state.stage = target.kind == Target::Kind::Stage ? target.index : 0;
    if (target.kind == Target::Kind::Module) {
        const int module = m_maker.fold().tree.find(target.module);
        for (std::size_t op = 0; module >= 0 && op < scene->graph.nodeOf.size(); ++op) {
            const int node = scene->graph.nodeOf[op];
            const bool data = node >= 0 && !scene->graph.nodes[node].prologue;
            if (data && m_maker.fold().tree.isInside(m_maker.fold().tree.moduleOf[op], module))
                state.selected[node] = 1;
        }
    } else if (const int node = nodeOf(target); node >= 0) {
        state.selected[node] = target.kind == Target::Kind::Op;
    }
    if (target.kind == Target::Kind::Value) {
        state.selectedStore = target.index;
        for (std::size_t i = 0; i < scene->edges.size(); ++i)
            if (std::binary_search(scene->edges[i].values.begin(), scene->edges[i].values.end(), target.index))
                state.selectedEdge = static_cast<int>(i);
    }
    if (state.selectedEdge < 0 && target.kind == Target::Kind::Value)
        if (const int node = nodeOf(target); node >= 0) state.selected[node] = 1;
    if (target.kind != Target::Kind::Value) state.stubSource = -1;
    const int node = nodeOf(target);
    announce(node < 0
                 ? QString()
                 : scene->graph.nodes[node].label + QStringLiteral(", ") + scene->graph.nodes[node].detail +
                       tr(", depth %1, stage %2").arg(scene->graph.nodes[node].depth).arg(scene->staging.stage[node]));
    m_view->update();
}

void GraphController::announce(const QString& text)
{
    if (text == m_view->accessibleDescription()) return;
    m_view->setAccessibleDescription(text);
    QAccessibleEvent event(m_view, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
}

// The hovered node with all that it needs and all that needs it; the rest fades. Large graphs would fade for nothing.
void GraphController::showHover(const Target& target)
{
    constexpr std::size_t maxNodes = 3000;
    const ScenePtr& scene = m_view->scene();
    if (!scene) return;
    PaintState& state = m_view->state();
    state.hoveredNode = target.kind == Target::Kind::None || target.kind == Target::Kind::Stage ? -1 : nodeOf(target);
    const bool wanted = target.kind == Target::Kind::Op || target.kind == Target::Kind::Module;
    state.cone =
        wanted && scene->nodes.size() <= maxNodes ? cone(scene->graph, state.hoveredNode) : std::vector<char>{};
    m_view->update();
}

// Opens what hides the target; true: something was closed, and the scene is on its way.
bool GraphController::openAround(const Target& target)
{
    const ScenePtr& scene = m_view->scene();
    const int node = nodeOf(target);
    if (target.kind == Target::Kind::Module || node < 0 || scene->graph.nodes[node].expands.isEmpty()) return false;
    FoldState state = m_maker.state();
    if (scene->graph.nodes[node].prologue) {
        state.expanded.insert(scene->graph.nodes[node].expands);
    } else {
        const auto& tree = m_maker.fold().tree;
        const int op =
            target.kind == Target::Kind::Op ? target.index : m_maker.model()->values[target.index].producer.index;
        for (int module = tree.moduleOf[op]; module > 0; module = tree.modules[module].parent)
            state.expanded.insert(tree.modules[module].path);
    }
    if (state == m_maker.state()) return false;
    m_maker.setFold(std::move(state));
    return true;
}

void GraphController::reveal(const Target& target)
{
    if (m_maker.busy() || !m_view->scene()) {
        m_revealNext = target;
        return;
    }
    if (openAround(target) && m_maker.busy()) {
        m_revealNext = target;
        return;
    }
    const ScenePtr& scene = m_view->scene();
    if (target.kind == Target::Kind::Stage) {
        if (const Band* band = scene->bandOf(target.index))
            m_view->scrollTo(QRectF(scene->bounds.center().x() - 1, band->top, 2, band->bottom - band->top));
    } else if (const int node = nodeOf(target); node >= 0) {
        m_view->scrollTo(scene->nodes[node], true);
    }
}

void GraphController::activate(const Hit& hit)
{
    const ScenePtr& scene = m_view->scene();
    if (hit.kind == Hit::Kind::Frame) return collapseFrame(hit.index);
    if (hit.kind == Hit::Kind::Edge) return pin(base::PinKind::Checkpoint, scene->edges[hit.index].values.front());
    if (hit.kind == Hit::Kind::Stub) return showUses(scene->stubs[hit.index].source);
    if (hit.kind != Hit::Kind::Node && hit.kind != Hit::Kind::Expander) return;
    expandNode(hit.index);
}

void GraphController::toggle(const QString& path, const QPointF& anchor, const QString& keyAfter,
                             const QString& frameAfter)
{
    FoldState state = m_maker.state();
    if (!state.expanded.remove(path)) state.expanded.insert(path);
    m_keep = Keep{anchor, keyAfter, frameAfter};
    m_maker.setFold(std::move(state));
}

void GraphController::expandNode(int node)
{
    const ScenePtr& scene = m_view->scene();
    if (node < 0 || scene->graph.nodes[node].expands.isEmpty()) return;
    const VisibleNode& box = scene->graph.nodes[node];
    const QRectF& rect = scene->nodes[node];
    const QString firstOp = models::text(m_maker.model()->ops[box.op].id);
    toggle(box.expands, {rect.center().x(), rect.top()}, firstOp, box.expands);
}

void GraphController::collapseFrame(int frame)
{
    const ScenePtr& scene = m_view->scene();
    const QRectF& rect = scene->frames[frame];
    const QString path = scene->graph.frames[frame].path;
    toggle(path, {rect.center().x(), rect.top()}, QStringLiteral("module:") + path, {});
}

void GraphController::collapseAround(int node)
{
    const ScenePtr& scene = m_view->scene();
    if (node < 0) return;
    const VisibleNode& record = scene->graph.nodes[node];
    const QString path = enclosing(m_maker.fold(), m_maker.state(), record);
    if (path.isEmpty()) return emit m_panel.contextHelpRequested(tr("There is no module around it to collapse."));
    const QPointF top(scene->nodes[node].center().x(), scene->nodes[node].top());
    toggle(path, top, record.prologue ? path : QStringLiteral("module:") + path, {});
}

void GraphController::showUses(int source)
{
    int& current = m_view->state().stubSource;
    current = current == source ? -1 : source;
    m_view->update();
}

}  // namespace hopscope::graphview
