#include "graphview/scene/scene.h"

#include <algorithm>
#include <cmath>

#include "graphview/scene/scene_builder.h"
#include "style/theme.h"

namespace hopscope::graphview {

namespace {

constexpr qreal minWidth = 96, maxWidth = 250;
constexpr qreal oneLine = 30, twoLines = 37;

QFont sized(int pixels, QFont::Weight weight)
{
    QFont font = style::uiFont();
    font.setPixelSize(pixels);
    font.setWeight(weight);
    return font;
}

// A font that shares nothing with the one that another thread paints with.
QFont own(const QFont& font)
{
    QFont copy(font.family());
    copy.setPixelSize(font.pixelSize());
    copy.setWeight(font.weight());
    return copy;
}

QString wordsOf(const VisibleNode& node)
{
    return QString::number(static_cast<int>(node.shape)) + node.label + QLatin1Char('\n') + node.detail +
           QLatin1Char('\n');
}

// How much of its width a shape's slanted or round sides and its glyphs take from text, on each side.
qreal sidePad(Shape shape)
{
    switch (shape) {
    case Shape::Gather:
    case Shape::Aggregate:
    case Shape::Reduce:
    case Shape::Module:
    case Shape::Structure: return 24;
    case Shape::Input:
    case Shape::Output: return 18;
    default: return 14;
    }
}

qreal distanceToSegment(QPointF p, QPointF a, QPointF b)
{
    const QPointF ab = b - a;
    const qreal length = QPointF::dotProduct(ab, ab);
    const qreal t = length > 0 ? std::clamp(QPointF::dotProduct(p - a, ab) / length, 0.0, 1.0) : 0;
    const QPointF d = p - (a + ab * t);
    return std::hypot(d.x(), d.y());
}

QPointF cubic(const QPointF* p, qreal t)
{
    const qreal u = 1 - t;
    return p[0] * (u * u * u) + p[1] * (3 * u * u * t) + p[2] * (3 * u * t * t) + p[3] * (t * t * t);
}

qreal distanceToPath(const std::vector<QPointF>& path, QPointF point)
{
    constexpr int stepsPerCurve = 16;
    qreal best = 1e12;
    for (std::size_t i = 0; i + 3 < path.size(); i += 3) {
        QPointF last = path[i];
        for (int step = 1; step <= stepsPerCurve; ++step) {
            const QPointF next = cubic(&path[i], qreal(step) / stepsPerCurve);
            best = std::min(best, distanceToSegment(point, last, next));
            last = next;
        }
    }
    return best;
}

}  // namespace

QFont labelFont()
{
    static const QFont font = sized(13, QFont::DemiBold);
    return font;
}

QFont detailFont()
{
    static const QFont font = sized(11, QFont::Normal);
    return font;
}

QFont smallFont()
{
    static const QFont font = sized(10, QFont::DemiBold);
    return font;
}

TextMeasure::TextMeasure() : m_label(own(labelFont())), m_detail(own(detailFont())), m_small(own(smallFont())) {}

QSizeF TextMeasure::nodeSize(const VisibleNode& node)
{
    QSizeF& size = m_sizes[wordsOf(node)];
    if (!size.isEmpty()) return size;
    const qreal text = std::max(m_label.horizontalAdvance(node.label), m_detail.horizontalAdvance(node.detail));
    const qreal width = std::clamp(std::ceil(text) + 2 * sidePad(node.shape) + 2, minWidth, maxWidth);
    return size = {width, node.detail.isEmpty() ? oneLine : twoLines};
}

NodeText TextMeasure::fit(const VisibleNode& node, const QSizeF& size)
{
    const QString key = wordsOf(node) + QString::number(size.width());
    if (const auto known = m_texts.constFind(key); known != m_texts.constEnd()) return *known;
    const qreal room = textArea(node.shape, QRectF({0, 0}, size)).width() + 1;
    NodeText text;
    text.label = m_label.elidedText(node.label, Qt::ElideRight, room);
    text.detail = m_detail.elidedText(node.detail, Qt::ElideRight, room);
    text.labelWidth = m_label.horizontalAdvance(text.label);
    text.detailWidth = m_detail.horizontalAdvance(text.detail);
    text.shortened = text.label != node.label || text.detail != node.detail;
    m_texts.insert(key, text);
    return text;
}

std::vector<QSizeF> nodeSizes(const VisibleGraph& graph)
{
    std::vector<QSizeF> sizes;
    sizes.reserve(graph.nodes.size());
    TextMeasure measure;
    for (const VisibleNode& node : graph.nodes) sizes.push_back(measure.nodeSize(node));
    return sizes;
}

QRectF textArea(Shape shape, const QRectF& rect)
{
    const qreal pad = sidePad(shape);
    return rect.adjusted(pad, 2, -pad, -2);
}

QPainterPath edgePath(const std::vector<QPointF>& points)
{
    QPainterPath path;
    if (points.empty()) return path;
    path.moveTo(points.front());
    for (std::size_t i = 1; i + 2 < points.size(); i += 3) path.cubicTo(points[i], points[i + 1], points[i + 2]);
    return path;
}

QPointF pointOnPath(const std::vector<QPointF>& points, qreal t)
{
    const auto curves = static_cast<int>((points.size() - 1) / 3);
    const int curve = std::clamp(static_cast<int>(t * curves), 0, curves - 1);
    return cubic(&points[static_cast<std::size_t>(curve) * 3], t * curves - curve);
}

QPointF pathAtHeight(const std::vector<QPointF>& points, qreal y)
{
    QPointF best = points.front();
    constexpr int steps = 60;
    for (int i = 0; i <= steps; ++i) {
        const QPointF point = pointOnPath(points, qreal(i) / steps);
        if (std::abs(point.y() - y) < std::abs(best.y() - y)) best = point;
    }
    return {best.x(), y};
}

int Scene::nodeAt(QPointF point) const { return nodeIndex.at(point); }

int Scene::edgeAt(QPointF point, qreal distance) const
{
    int best = -1;
    qreal nearest = distance;
    for (int edge : edgesInside(QRectF(point - QPointF(distance, distance), QSizeF(2 * distance, 2 * distance)))) {
        const qreal away = distanceToPath(edges[edge].path, point);
        if (away <= nearest) nearest = away, best = edge;
    }
    return best;
}

int Scene::storeAt(QPointF point) const
{
    for (std::size_t i = 0; i < stores.size(); ++i)
        if (stores[i].rect.adjusted(-3, -3, 3, 3).contains(point)) return static_cast<int>(i);
    return -1;
}

int Scene::frameTitleAt(QPointF point) const
{
    for (std::size_t i = frames.size(); i-- > 0;)
        if (!frames[i].isNull() && QRectF(frames[i].topLeft(), QSizeF(frames[i].width(), frameTitle)).contains(point))
            return static_cast<int>(i);
    return -1;
}

std::vector<int> Scene::edgesInside(const QRectF& area) const
{
    std::vector<int> found = edgeIndex.inside(area);
    for (int& piece : found) piece = edgeOfPiece[piece];
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

const Band* Scene::bandOf(StageId stage) const
{
    const auto found = std::lower_bound(bands.begin(), bands.end(), stage,
                                        [](const Band& band, StageId wanted) { return band.last < wanted; });
    return found != bands.end() && found->stage <= stage ? &*found : nullptr;
}

ScenePtr buildScene(SceneInput input) { return SceneBuilder(std::move(input)).build(); }

ScenePtr previewScene(const Scene& scene, const protocol::ModelRecord& model, const protocol::PlanRecord& plan)
{
    SceneInput input;
    input.model = &model;
    input.plan = &plan;
    return SceneBuilder(std::move(input)).buildOver(scene);
}

}  // namespace hopscope::graphview
