#include "graphview/view/graph_controller.h"

#include <QVBoxLayout>

#include "graphview/view/view_state.h"

namespace hopscope::graphview {

using models::Target;

GraphController::GraphController(models::Document& document, models::Selection& selection, GraphPanel& panel)
    : QObject(&panel),
      m_document(document),
      m_selection(selection),
      m_panel(panel),
      m_maker(this),
      m_view(new GraphView(&panel)),
      m_parts{.document = document, .selection = selection, .panel = panel, .maker = m_maker, .view = *m_view},
      m_tools(m_parts),
      m_actions(m_parts, m_tools, this)
{
    setupView();
    connectDocument();
    connectView();
    connectOverlays();
    takeModel();
}

void GraphController::setupView()
{
    auto* column = new QVBoxLayout(&m_panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(&m_tools.split.widget(), 1);
    column->addWidget(&m_tools.overlays.strip());
    m_panel.setFocusProxy(m_view);
    m_tools.colours.setActions(m_actions.colours());
    m_tools.overlays.strip().fill(m_actions.colours(), m_actions.comparisons(), m_actions.folds());
    // In tab order, the graph comes before the widgets below it.
    QWidget* before = m_view;
    for (QToolButton* button : m_tools.overlays.strip().findChildren<QToolButton*>())
        QWidget::setTabOrder(std::exchange(before, button), button);
}

void GraphController::connectDocument()
{
    connect(&m_document, &models::Document::modelChanged, this, &GraphController::takeModel);
    connect(&m_document, &models::Document::planChanged, this, &GraphController::takePlan);
    connect(&m_document, &models::Document::settingsChanged, this, [this] {
        if (m_tools.breakpoints.mark()) m_tools.colours.recolour();
    });
    connect(&m_document, &models::Document::previewChanged, this, [this] { m_tools.cuts.showPreview(); });
    connect(&m_document, &models::Document::runsChanged, this, [this] { m_tools.colours.takeRuns(); });
    connect(&m_document, &models::Document::runChanged, this, &GraphController::takeRun);
    connect(&m_selection, &models::Selection::changed, this, [this] { m_tools.marks.showSelection(); });
    connect(&m_selection, &models::Selection::hoverChanged, this,
            [this](const Target& target) { m_tools.marks.showHover(target); });
    connect(&m_selection, &models::Selection::revealRequested, this,
            [this](const Target& target) { m_tools.navigator.reveal(target); });
    connect(&m_maker, &SceneMaker::sceneChanged, this, &GraphController::takeScene);
}

void GraphController::connectView()
{
    connect(m_view, &GraphView::clicked, this, &GraphController::click);
    connect(m_view, &GraphView::hovered, this, [this](Hit hit) { m_selection.hover(m_tools.targets.targetOf(hit)); });
    connect(m_view, &GraphView::activated, this, &GraphController::activate);
    connect(m_view, &GraphView::menuRequested, &m_actions, &GraphActions::showMenu);
    connect(&m_view->viewport(), &Viewport::changed, this, [this] {
        m_tools.overlays.place();
        m_tools.split.followCamera(*m_view);
    });
    GraphView* other = &m_tools.split.other();
    connect(&other->viewport(), &Viewport::changed, this, [this, other] { m_tools.split.followCamera(*other); });
    connect(other, &GraphView::clicked, this, &GraphController::click);
    CheckpointDrag* drag = &m_view->drag();
    connect(drag, &CheckpointDrag::movedOver, this,
            [this](ValueId value, Hit hit) { m_tools.cuts.dragOver(value, hit); });
    connect(drag, &CheckpointDrag::dropped, this, [this](ValueId value, Hit hit) { m_tools.cuts.dropOn(value, hit); });
    connect(drag, &CheckpointDrag::ended, &m_panel, &GraphPanel::dragEnded);
}

void GraphController::connectOverlays()
{
    connect(&m_tools.overlays.minimap(), &Minimap::jumped, this, [this](QPointF at) {
        m_view->viewport().touch();
        m_view->viewport().centreOn(at);
    });
    SearchBar* bar = &m_tools.overlays.searchBar();
    connect(bar, &SearchBar::queryChanged, this, [this](const QString& query) { m_tools.search.find(query); });
    connect(bar, &SearchBar::stepped, this, [this](int direction) { m_tools.search.step(direction); });
    connect(bar, &SearchBar::closed, this, [this] { m_tools.search.close(); });
}

void GraphController::takeModel()
{
    m_tools.colours.setErrors(nullptr);
    m_tools.bookmarks.set({});
    m_tools.search.forget();
    m_tools.placement.reset();
    m_tools.navigator.forget();
    m_view->state().run = m_document.runLog().get();
    const models::ModelPtr model = m_document.model();
    m_view->setMessage(model ? tr("Laying out the graph…") : tr("No model is open."));
    m_maker.setLongest(m_view->viewport().legibleRanks());
    m_maker.setModel(model, m_document.parts());
    m_maker.setPlan(m_document.plan());
    m_actions.showFold(m_maker.state());
    m_tools.colours.refresh();
}

void GraphController::takePlan()
{
    m_maker.setPlan(m_document.plan());
    m_tools.colours.refresh();
    if (m_maker.busy()) return;
    m_tools.colours.recolour();
    m_tools.split.refresh();
}

void GraphController::takeRun()
{
    m_view->state().run = m_document.runLog().get();
    if (const auto& log = m_document.runLog())
        connect(log.get(), &models::RunLog::updated, m_view, qOverload<>(&QWidget::update));
    m_view->update();
}

void GraphController::takeScene()
{
    m_tools.placement.show(m_maker.scene());
    m_tools.breakpoints.mark();
    m_tools.colours.recolour();
    m_tools.placement.settle();
    if (m_maker.scene() && m_maker.scene()->nodes.empty())
        m_view->setMessage(tr("The code of this model has no operators."));
    m_tools.marks.showRefused();
    m_tools.marks.showSelection();
    m_tools.bookmarks.mark();
    m_tools.search.mark();
    m_tools.navigator.resume();
    m_tools.overlays.place();
    m_tools.split.refresh();
    emit m_panel.layoutFinished();
}

void GraphController::setTheme(const style::Theme& theme)
{
    m_tools.split.setTheme(theme);
    m_tools.colours.setTheme(theme);
    m_tools.split.refresh();
}

void GraphController::setColourMode(ColourMode mode)
{
    m_tools.colours.setMode(mode);
    m_tools.split.refresh();
}

void GraphController::click(const Hit& hit)
{
    const Target target = m_tools.targets.targetOf(hit);
    if (hit.kind == Hit::Kind::Stub) m_tools.marks.toggleUses(m_view->scene()->stubs[hit.index].source);
    if (target.kind != Target::Kind::None || m_selection.current().kind != Target::Kind::None)
        m_selection.select(target);
}

void GraphController::activate(const Hit& hit)
{
    const ScenePtr& scene = m_view->scene();
    switch (hit.kind) {
    case Hit::Kind::Frame: return m_tools.folds.close(hit.index);
    case Hit::Kind::Edge: return m_tools.cuts.pin(base::PinKind::Checkpoint, scene->edges[hit.index].values.front());
    case Hit::Kind::Stub: return m_tools.marks.toggleUses(scene->stubs[hit.index].source);
    case Hit::Kind::Node:
    case Hit::Kind::Expander: return m_tools.folds.open(hit.index);
    case Hit::Kind::Store:
    case Hit::Kind::Nothing: return;
    }
}

void GraphController::showErrors(const schema::DivergenceRecord& found)
{
    m_tools.colours.setErrors(std::make_shared<const schema::DivergenceRecord>(found));
    m_tools.split.refresh();
}

QByteArray GraphController::saveView() const
{
    return writeViewState({.fold = m_maker.state(),
                           .bookmarks = m_tools.bookmarks.all(),
                           .camera = m_view->camera(),
                           .colour = m_tools.colours.mode()});
}

void GraphController::restoreView(const QByteArray& text)
{
    const std::optional<ViewState> state = readViewState(text);
    if (!state || !m_maker.model()) return;
    m_tools.bookmarks.set(state->bookmarks);
    m_tools.bookmarks.mark();
    if (state->colour && m_tools.colours.isAvailable(*state->colour)) m_tools.colours.setMode(*state->colour);
    m_tools.placement.restore(state->camera);
    m_actions.showFold(state->fold);
    m_maker.setFold(state->fold);
}

}  // namespace hopscope::graphview
