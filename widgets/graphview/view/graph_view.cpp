#include "graphview/view/graph_view.h"

#include <QHelpEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QToolTip>

#include "graphview/scene/level_of_detail.h"

namespace hopscope::graphview {

namespace {

constexpr int animationMilliseconds = 200;
constexpr std::size_t maxAnimated = 1500;
constexpr qreal readableScale = 0.72;

// The middle of what is at the top.
qreal startColumn(const Scene& scene)
{
    QRectF top;
    for (std::size_t i = 0; i < scene.nodes.size(); ++i)
        if (!scene.graph.nodes[i].prologue && scene.nodes[i].top() < 600) top |= scene.nodes[i];
    return top.isNull() ? scene.bounds.center().x() : top.center().x();
}

}  // namespace

GraphView::GraphView(QWidget* parent) : QWidget(parent), m_theme(style::loadTheme(style::Mode::Auto)) { setupWidget(); }

void GraphView::setupWidget()
{
    setObjectName(QStringLiteral("graphView"));
    setAccessibleName(tr("Graph"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setMinimumSize(160, 120);
    m_animation.setDuration(animationMilliseconds);
    m_animation.setStartValue(0.0);
    m_animation.setEndValue(1.0);
    m_animation.setEasingCurve(QEasingCurve::OutCubic);
    connect(&m_animation, &QVariantAnimation::valueChanged, this,
            [this](const QVariant& value) { animationStep(value.toReal()); });
}

bool GraphView::animating() const { return m_animation.state() == QAbstractAnimation::Running; }

void GraphView::setScene(ScenePtr scene, std::optional<Anchor> anchor, bool animated)
{
    m_animation.stop();
    const ScenePtr before = std::exchange(m_target, std::move(scene));
    m_scene = m_target;
    m_hit = m_over = {};
    m_state.hoveredNode = m_state.hoveredEdge = m_state.selectedEdge = m_state.stubSource = -1;
    for (auto* list : {&m_state.selected, &m_state.found, &m_state.cone, &m_state.bookmarked}) list->clear();
    m_colouring = {};
    QPointF shift;
    if (anchor) {
        shift = anchor->after - anchor->before;
        m_camera.offset -= shift * m_camera.scale;
    }
    const bool small = before && m_target && m_target->nodes.size() + before->nodes.size() <= maxAnimated;
    if (animated && small && !m_reducedMotion) startAnimation(*before, shift, anchor ? anchor->after : QPointF());
    emit cameraChanged();
    update();
}

// Nodes that were there come from where they were; new ones come out of the anchor.
void GraphView::startAnimation(const Scene& before, QPointF shift, QPointF anchor)
{
    QHash<QString, QPointF> places;
    for (std::size_t i = 0; i < before.nodes.size(); ++i)
        places.insert(before.graph.nodes[i].key, before.nodes[i].center() + shift);
    m_displaced.assign(m_target->nodes.size(), {});
    bool any = false;
    for (std::size_t i = 0; i < m_displaced.size(); ++i) {
        const QPointF centre = m_target->nodes[i].center();
        const auto known = places.constFind(m_target->graph.nodes[i].key);
        m_displaced[i] = (known != places.constEnd() ? *known : anchor.isNull() ? centre : anchor) - centre;
        any = any || !m_displaced[i].isNull();
    }
    if (any) m_animation.start();
}

void GraphView::animationStep(qreal progress)
{
    m_scene = progress < 1 ? displacedScene(*m_target, m_displaced, 1 - progress) : m_target;
    update();
}

std::shared_ptr<const Scene> displacedScene(const Scene& scene, const std::vector<QPointF>& displaced, qreal share)
{
    auto moved = std::make_shared<Scene>(scene);
    for (std::size_t i = 0; i < moved->nodes.size(); ++i) moved->nodes[i].translate(displaced[i] * share);
    moved->frames = frameRects(moved->graph, moved->nodes);
    for (std::size_t i = 0; i < moved->frames.size(); ++i)
        if (scene.frames[i].isNull()) moved->frames[i] = {};
    for (SceneEdge& edge : moved->edges) {
        const QPointF from = displaced[edge.from] * share, to = displaced[edge.to] * share;
        const auto last = static_cast<qreal>(edge.path.size() - 1);
        for (std::size_t i = 0; i < edge.path.size(); ++i)
            edge.path[i] += from + (to - from) * (static_cast<qreal>(i) / last);
    }
    for (SceneStub& stub : moved->stubs) {
        const QPointF by = displaced[stub.node] * share;
        stub.from += by, stub.to += by, stub.textRect.translate(by);
    }
    moved->nodeIndex = GridIndex(moved->nodes);
    return moved;
}

void GraphView::setColouring(Colouring colouring)
{
    m_colouring = std::move(colouring);
    update();
}

void GraphView::setPreview(ScenePtr preview)
{
    if (!preview && m_scene == m_target) return;
    m_animation.stop();
    m_scene = preview ? std::move(preview) : m_target;
    update();
}

void GraphView::setNote(const QString& note)
{
    m_note = note;
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

void GraphView::setCamera(const Camera& camera)
{
    if (camera == m_camera) return;
    m_camera = camera;
    m_fitted = false;
    emit cameraChanged();
    update();
}

void GraphView::fit()
{
    if (!m_target) return;
    setCamera(Camera::fitting(m_target->bounds, size(), 24, m_reserved));
    m_fitted = true;
}

void GraphView::showStart()
{
    fit();
    if (!m_target || m_camera.scale >= readableScale) return;
    Camera camera;
    camera.scale = readableScale;
    camera.offset = {width() / 2.0 - startColumn(*m_target) * readableScale, 0};
    setCamera(camera);
}

void GraphView::zoomBy(qreal factor) { setCamera(m_camera.zoomed(factor, QRectF(rect()).center())); }

void GraphView::scrollTo(const QRectF& sceneRect, bool centre)
{
    const QRectF seen = m_camera.toScreen(sceneRect);
    const QRectF room = QRectF(rect()).adjusted(40, 40, -40, -40);
    Camera next = m_camera;
    if (next.scale < 0.5 && centre) next.scale = 0.9;
    if (centre || !room.contains(seen.center()))
        next.offset = QRectF(rect()).center() - sceneRect.center() * next.scale;
    else
        next.offset += QPointF(std::max(0.0, room.left() - seen.left()) - std::max(0.0, seen.right() - room.right()),
                               std::max(0.0, room.top() - seen.top()) - std::max(0.0, seen.bottom() - room.bottom()));
    const qreal top = m_target->bounds.top() * next.scale, bottom = m_target->bounds.bottom() * next.scale + m_reserved;
    if (bottom - top > height()) next.offset.setY(std::clamp(next.offset.y(), height() - bottom, -top));
    setCamera(next);
}

void GraphView::resizeEvent(QResizeEvent*)
{
    if (m_fitted) fit();
    emit cameraChanged();
}

Hit GraphView::hitAt(QPointF screen) const
{
    if (!m_scene) return {};
    const QPointF at = m_camera.toScene(screen);
    if (const int store = m_scene->storeAt(at); store >= 0) return {Hit::Kind::Store, store};
    return hitBelowStores(at);
}

Hit GraphView::hitBelowStores(QPointF at) const
{
    if (const int node = m_scene->nodeAt(at); node >= 0) {
        const bool glyph = !m_scene->graph.nodes[node].expands.isEmpty() &&
                           expanderRect(m_scene->nodes[node]).adjusted(-3, -3, 3, 3).contains(at);
        return {glyph ? Hit::Kind::Expander : Hit::Kind::Node, node};
    }
    for (std::size_t i = 0; i < m_scene->stubs.size(); ++i)
        if (m_scene->stubs[i].textRect.united({m_scene->stubs[i].from, m_scene->stubs[i].to}).contains(at))
            return {Hit::Kind::Stub, static_cast<int>(i)};
    if (const int edge = m_scene->edgeAt(at, 6 / m_camera.scale); edge >= 0) return {Hit::Kind::Edge, edge};
    if (const int frame = m_scene->frameTitleAt(at); frame >= 0) return {Hit::Kind::Frame, frame};
    return {};
}

void GraphView::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    if (!m_scene || m_scene->nodes.empty() || m_colouring.fill.size() != m_scene->nodes.size())
        return paintNothing(painter);
    const QRectF seen = m_camera.toScene(QRectF(rect()));
    if (m_scene->nodeIndex.count(seen, maxDetailedNodes) >= maxDetailedNodes) paintFromAfar(painter);
    else paintNear(painter);
    paintGhost(painter);
}

void GraphView::paintNothing(QPainter& painter)
{
    painter.fillRect(rect(), m_theme.panel);
    painter.setPen(m_theme.textMuted);
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, m_message);
}

void GraphView::paintFromAfar(QPainter& painter)
{
    if (m_far.size() != size()) m_far = QImage(size(), QImage::Format_RGB32);
    m_far.fill(m_theme.panel);
    drawFromAfar(m_far, *m_scene, m_colouring, m_theme, m_camera,
                 m_state.found.empty() ? m_state.selected : m_state.found);
    painter.drawImage(0, 0, m_far);
    for (std::size_t node = 0; node < m_state.selected.size(); ++node) {
        if (!m_state.selected[node]) continue;
        painter.setPen(QPen(m_theme.accent, 2));
        painter.drawRect(m_camera.toScreen(m_scene->nodes[node]).adjusted(-3, -3, 3, 3));
    }
}

void GraphView::paintNear(QPainter& painter)
{
    const QRectF seen = m_camera.toScene(QRectF(rect()));
    m_state.titleX = seen.left();
    m_state.scale = m_camera.scale;
    painter.translate(m_camera.offset);
    painter.scale(m_camera.scale, m_camera.scale);
    paintScene({painter, *m_scene, m_colouring, m_theme, m_state}, seen);
    painter.resetTransform();
}

void GraphView::paintGhost(QPainter& painter)
{
    if (m_drag != Drag::Store || !m_moved) return;
    const Hit target = hitBelowStores(m_camera.toScene(m_pointer));
    painter.setRenderHint(QPainter::Antialiasing);
    if (target.kind == Hit::Kind::Node || target.kind == Hit::Kind::Expander) {
        painter.setPen(QPen(m_theme.checkpoint, 3));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(m_camera.toScreen(m_scene->nodes[target.index]).adjusted(-4, -4, 4, 4), 9, 9);
    } else if (target.kind == Hit::Kind::Edge) {
        painter.save();
        painter.translate(m_camera.offset);
        painter.scale(m_camera.scale, m_camera.scale);
        painter.setPen(QPen(m_theme.checkpoint, 4));
        painter.drawPath(edgePath(m_scene->edges[target.index].path));
        painter.restore();
    }
    painter.setOpacity(0.75);
    paintCylinder(painter, QRectF(m_pointer - QPointF(14, 12), QSizeF(28, 24)), m_theme);
    painter.setOpacity(1);
    if (!m_note.isEmpty()) paintNote(painter);
}

// Beside the pointer, on the side where there is room.
void GraphView::paintNote(QPainter& painter)
{
    constexpr int away = 22, margin = 8;
    painter.setFont(detailFont());
    const QRectF room = QRectF(rect()).adjusted(margin, margin, -margin, -margin);
    QRectF card = painter.fontMetrics().boundingRect(QRect(0, 0, 360, 200), Qt::TextWordWrap, m_note);
    card.adjust(-margin, -margin, margin, margin);
    card.moveTopLeft(m_pointer + QPointF(away, away));
    if (card.right() > room.right()) card.moveRight(std::max(m_pointer.x() - away, card.width() + margin));
    if (card.bottom() > room.bottom()) card.moveBottom(m_pointer.y() - away);
    painter.setPen(QPen(m_theme.border, 1));
    painter.setBrush(m_theme.raised);
    painter.drawRoundedRect(card, 6, 6);
    painter.setPen(m_theme.text);
    painter.drawText(card.adjusted(margin, margin, -margin, -margin), Qt::TextWordWrap, m_note);
}

bool GraphView::event(QEvent* event)
{
    // While something is dragged, keys are no shortcuts: Escape gives the drag up, whatever else it is for.
    if (event->type() == QEvent::ShortcutOverride && dragging()) return event->accept(), true;
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    showTip(help->globalPos(), help->pos());
    return true;
}

void GraphView::showTip(QPoint global, QPointF at)
{
    const Hit hit = hitAt(at);
    if (hit.kind == Hit::Kind::Store && !movable(hit))
        return QToolTip::showText(global,
                                  tr("%n stored values: expand the module to see them individually", nullptr,
                                     m_scene->stores[hit.index].count),
                                  this);
    if (hit.kind == Hit::Kind::Edge && !m_scene->edges[hit.index].pins.isEmpty())
        return QToolTip::showText(global, tr("Pinned: %1").arg(m_scene->edges[hit.index].pins), this);
    if (hit.kind != Hit::Kind::Node && hit.kind != Hit::Kind::Expander) return QToolTip::hideText();
    const VisibleNode& node = m_scene->graph.nodes[hit.index];
    const QString first = m_scene->texts[hit.index].shortened ? node.label + QLatin1Char('\n') : QString();
    QString again;
    for (int stage : m_scene->staging.again[hit.index]) again += QStringLiteral(" %1").arg(stage);
    if (!again.isEmpty()) again = QLatin1Char('\n') + tr("recomputed in stage%1").arg(again);
    const QString pins = m_scene->pins.empty() ? QString() : m_scene->pins[hit.index];
    const QString decided = pins.isEmpty() ? QString() : QLatin1Char('\n') + tr("Pinned: %1").arg(pins);
    QToolTip::showText(global, first + node.tip + again + decided, this);
}

}  // namespace hopscope::graphview
