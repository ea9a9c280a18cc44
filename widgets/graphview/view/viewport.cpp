#include "graphview/view/viewport.h"

#include <utility>

namespace hopscope::graphview {

namespace {

constexpr qreal readableScale = 0.72, legibleScale = 0.5;
constexpr int margin = 40;  // around the item that is scrolled to

// The middle of the topmost nodes.
qreal startColumn(const Scene& scene)
{
    QRectF top;
    for (std::size_t i = 0; i < scene.nodes.size(); ++i)
        if (!scene.graph->nodes[i].prologue && scene.nodes[i].top() < 600) top |= scene.nodes[i];
    return top.isNull() ? scene.bounds.center().x() : top.center().x();
}

}  // namespace

// The widget is updated last: overlays that have moved meanwhile are then painted together with it. In the other order,
// the whole picture would be painted once more below them.
void Viewport::tell()
{
    emit changed();
    m_widget.update();
}

// After a module is opened in a graph that was fully visible, the view stays at the module, not at the beginning.
void Viewport::setScene(ScenePtr scene, QPointF shift)
{
    const auto seenWhole = [this] { return m_scene && wholeCamera().scale >= legibleScale; };
    const bool before = seenWhole();
    m_scene = std::move(scene);
    if (m_touched && m_fitted == Fitted::Start && before && !seenWhole()) m_fitted = Fitted::Nothing;
    m_camera.offset -= shift * m_camera.scale;
    tell();
}

void Viewport::resized()
{
    const bool held = std::exchange(m_held, false);
    if (m_scene && !held && m_fitted != Fitted::Nothing)
        m_camera = m_fitted == Fitted::Start ? startCamera() : wholeCamera();
    tell();
}

void Viewport::setCamera(const Camera& camera)
{
    if (camera == m_camera) return;
    m_camera = camera;
    m_fitted = Fitted::Nothing;
    tell();
}

// Only a change of the line above keeps the scene in place: after any other change of size, it is fitted again.
void Viewport::holdStill(QPointF moved)
{
    m_held = moved.x() == 0 && moved.y() > 0;
    if (!m_scene || (!m_held && m_fitted != Fitted::Nothing)) return;
    m_camera.offset -= moved;
    tell();
}

Camera Viewport::wholeCamera() const
{
    constexpr qreal bandNames = 80;  // at the left, what stages are called and how far they are
    const qreal left = m_scene->bands.empty() ? 0 : bandNames;
    return Camera::fitting(m_scene->bounds.adjusted(-left, 0, 0, 0), m_widget.size());
}

Camera Viewport::startCamera() const
{
    const Camera whole = wholeCamera();
    if (whole.scale >= legibleScale) return whole;
    return {readableScale, {m_widget.width() / 2.0 - startColumn(*m_scene) * readableScale, 0}};
}

void Viewport::fit()
{
    if (!m_scene) return;
    setCamera(wholeCamera());
    m_fitted = Fitted::Whole;
}

void Viewport::showStart()
{
    if (!m_scene) return;
    setCamera(startCamera());
    m_fitted = Fitted::Start;
    m_touched = false;
    tell();
}

int Viewport::legibleRanks() const
{
    constexpr qreal rank = 62, pleasantScale = 0.62;  // the height of a node and the gap below it
    constexpr int above = 100;                        // of the window, where the widget has no size of its own yet
    const int height = m_widget.isVisible() ? m_widget.height() : m_widget.window()->height() - above;
    return static_cast<int>(height / (rank * pleasantScale));
}

void Viewport::zoomBy(qreal factor)
{
    touch();
    setCamera(m_camera.zoomed(factor, area().center()));
}

void Viewport::centreOn(QPointF scene)
{
    Camera next = m_camera;
    next.offset = area().center() - scene * next.scale;
    setCamera(next);
}

void Viewport::scrollTo(const QRectF& sceneRect, bool centre)
{
    const QRectF seen = m_camera.toScreen(sceneRect);
    const QRectF room = area().adjusted(margin, margin, -margin, -margin);
    Camera next = m_camera;
    if (next.scale < 0.5 && centre) next.scale = 0.9;
    if (centre || !room.contains(seen.center())) next.offset = area().center() - sceneRect.center() * next.scale;
    else
        next.offset += QPointF(std::max(0.0, room.left() - seen.left()) - std::max(0.0, seen.right() - room.right()),
                               std::max(0.0, room.top() - seen.top()) - std::max(0.0, seen.bottom() - room.bottom()));
    const qreal top = m_scene->bounds.top() * next.scale;
    const qreal bottom = m_scene->bounds.bottom() * next.scale;
    if (bottom - top > m_widget.height())
        next.offset.setY(std::clamp(next.offset.y(), m_widget.height() - bottom, -top));
    setCamera(next);
}

}  // namespace hopscope::graphview
