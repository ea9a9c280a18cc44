#include "graphview/view/graph_view.h"

#include <QPaintEvent>
#include <QPainter>

#include "graphview/scene/level_of_detail.h"

namespace hopscope::graphview {

namespace {

void paintFocus(QPainter& painter, const QRect& room, const style::Theme& theme)
{
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.accent, 2));
    painter.drawRect(room.adjusted(1, 1, -1, -1));
}

}  // namespace

GraphView::GraphView(QWidget* parent) : QWidget(parent), m_viewport(*this), m_theme(style::loadTheme(style::Mode::Auto))
{
    setupWidget();
}

void GraphView::setupWidget()
{
    setObjectName(QStringLiteral("graphView"));
    setAccessibleName(tr("Graph"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setMinimumSize(160, 120);
    connect(&m_checkpoint, &CheckpointDrag::noteChanged, this, qOverload<>(&QWidget::update));
    connect(&m_transition, &SceneTransition::stepped, this, [this](const ScenePtr& scene) {
        m_scene = scene;
        update();
    });
}

void GraphView::setScene(ScenePtr scene, std::optional<Anchor> anchor, bool animated)
{
    m_transition.stop();
    const ScenePtr before = std::exchange(m_target, std::move(scene));
    m_scene = m_target;
    m_hit = {};
    m_checkpoint.forgetPlaces();
    m_state.hoveredNode = m_state.hoveredEdge = m_state.selectedEdge = m_state.stubSource = -1;
    for (auto* list : {&m_state.selected, &m_state.found, &m_state.cone, &m_state.bookmarked}) list->clear();
    m_state.breakpoints.clear();
    m_state.bandBreakpoints.clear();
    m_state.breakpointTips.clear();
    m_colouring = {};
    const QPointF shift = anchor ? anchor->after - anchor->before : QPointF();
    if (animated && before && m_target && !m_reducedMotion)
        m_transition.start(*before, m_target, shift, anchor ? anchor->after : QPointF());
    m_viewport.setScene(m_target, shift);
}

void GraphView::setColouring(Colouring colouring)
{
    m_colouring = std::move(colouring);
    update();
}

void GraphView::setPreview(ScenePtr preview)
{
    if (!preview && m_scene == m_target) return;
    m_transition.stop();
    m_scene = preview ? std::move(preview) : m_target;
    update();
}

void GraphView::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    update();
}

void GraphView::setMessage(const QString& message)
{
    m_message = message;
    update();
}

void GraphView::resizeEvent(QResizeEvent*) { m_viewport.resized(); }

Hit GraphView::hitAt(QPointF screen) const
{
    if (!m_scene) return {};
    return graphview::hitAt(*m_scene, camera().toScene(screen), camera().scale);
}

void GraphView::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    if (!m_scene || m_scene->nodes.empty() || m_colouring.fill.size() != m_scene->nodes.size()) {
        painter.fillRect(rect(), m_theme.panel);
        painter.setPen(m_theme.textMuted);
        painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, m_message);
    } else {
        const QRectF seen = camera().toScene(QRectF(rect()));
        if (m_scene->nodeIndex.count(seen, maxDetailedNodes) >= maxDetailedNodes) paintFromAfar(painter);
        else paintNear(painter);
        if (m_checkpoint.moving()) m_checkpoint.paint(painter, *m_scene, camera(), m_theme, m_pointer, rect());
    }
    if (m_framed) paintFocus(painter, rect(), m_theme);
}

void GraphView::paintFromAfar(QPainter& painter)
{
    if (m_far.size() != size()) m_far = QImage(size(), QImage::Format_RGB32);
    m_far.fill(m_theme.panel);
    drawFromAfar(m_far, *m_scene, m_colouring, m_theme, camera(),
                 m_state.found.empty() ? m_state.selected : m_state.found);
    painter.drawImage(0, 0, m_far);
    for (std::size_t node = 0; node < m_state.selected.size(); ++node) {
        if (!m_state.selected[node]) continue;
        painter.setPen(QPen(m_theme.accent, 2));
        painter.drawRect(camera().toScreen(m_scene->nodes[node]).adjusted(-3, -3, 3, 3));
    }
}

void GraphView::paintNear(QPainter& painter)
{
    const QRectF seen = camera().toScene(QRectF(rect()));
    m_state.titleX = seen.left();
    m_state.scale = camera().scale;
    painter.translate(camera().offset);
    painter.scale(camera().scale, camera().scale);
    const PaintContext context{
        .painter = painter, .scene = *m_scene, .colouring = m_colouring, .theme = m_theme, .state = m_state};
    paintScene(context, seen);
    painter.resetTransform();
}

}  // namespace hopscope::graphview
