#include "graphview/scene/check_geometry.h"

#include <QFontMetricsF>

namespace hopscope::graphview {

namespace {

constexpr double minContrast = 4.5;
constexpr qreal tolerance = 0.5;

class Check {
public:
    Check(const Scene& scene, const Colouring& colouring, const style::Theme& theme)
        : m_scene(scene),
          m_colouring(colouring),
          m_theme(theme)
    {}
    QStringList run()
    {
        for (std::size_t node = 0; node < m_scene.nodes.size(); ++node) checkNode(static_cast<int>(node));
        for (const SceneEdge& edge : m_scene.edges) checkEdge(edge);
        for (const SceneStub& stub : m_scene.stubs) checkStub(stub);
        for (const SceneStore& store : m_scene.stores)
            if (m_scene.nodeIndex.count(store.rect, 1) > 0)
                report(store.node, QStringLiteral("its store lies on a node"));
        checkText(m_theme.structure, m_theme.panel, QStringLiteral("structure-only text"));
        checkText(m_theme.warning, m_theme.panel, QStringLiteral("bytes of a checkpoint"));
        checkText(m_theme.textMuted, m_theme.bandA, QStringLiteral("titles of stages"));
        checkText(m_theme.textMuted, m_theme.bandB, QStringLiteral("titles of stages"));
        return std::move(m_faults);
    }

private:
    [[nodiscard]] QString name(int node) const
    {
        const VisibleNode& record = m_scene.graph->nodes[node];
        return record.key + QStringLiteral(" (") + record.label + QLatin1Char(')');
    }
    void report(int node, const QString& what) { m_faults << name(node) + QStringLiteral(": ") + what; }
    void checkText(const QColor& text, const QColor& fill, const QString& what)
    {
        const double contrast = style::contrast(text, fill);
        if (contrast < minContrast) m_faults << what + QStringLiteral(": contrast %1").arg(contrast, 0, 'f', 2);
    }
    void checkNode(int node)
    {
        const QRectF& rect = m_scene.nodes[node];
        if (rect.isEmpty()) return report(node, QStringLiteral("has no place"));
        const QRectF inner = rect.adjusted(tolerance, tolerance, -tolerance, -tolerance);
        for (int other : m_scene.nodeIndex.inside(inner))
            if (other > node) report(node, QStringLiteral("overlaps ") + name(other));
        if (!m_scene.bounds.contains(rect)) report(node, QStringLiteral("lies outside of the picture"));
        if (m_scene.bands.empty()) return;  // of a model that cannot be split
        const Band* band = m_scene.bandOf(m_scene.staging.stage[node]);
        if (!band || rect.top() < band->top || rect.bottom() > band->bottom)
            report(node, QStringLiteral("lies outside of its stage's band"));
        checkLabel(node);
    }
    void checkLabel(int node)
    {
        const NodeText& text = m_scene.texts[node];
        const QRectF room = textArea(m_scene.graph->nodes[node].shape, m_scene.nodes[node]);
        const qreal width = std::max(QFontMetricsF(labelFont()).horizontalAdvance(text.label),
                                     QFontMetricsF(detailFont()).horizontalAdvance(text.detail));
        if (width > room.width() + 2) report(node, QStringLiteral("its text is clipped"));
        if (text.label.isEmpty()) report(node, QStringLiteral("has no label"));
        const double contrast = style::contrast(m_colouring.text[node], m_colouring.fill[node]);
        if (contrast < minContrast) report(node, QStringLiteral("contrast %1").arg(contrast, 0, 'f', 2));
    }
    // Within the prologue edges may go sideways, but not back.
    void checkEdge(const SceneEdge& edge)
    {
        const QRectF& from = m_scene.nodes[edge.from];
        const QRectF& to = m_scene.nodes[edge.to];
        const bool beside = m_scene.graph->nodes[edge.to].prologue && to.left() >= from.right();
        if (!beside && to.top() < from.bottom() - tolerance)
            report(edge.from, QStringLiteral("an edge goes up to ") + name(edge.to));
        if (edge.path.size() < 4) return report(edge.from, QStringLiteral("an edge has no path to ") + name(edge.to));
        for (const auto& [point, node] :
             {std::pair(edge.path.front(), edge.from), std::pair(edge.path.back(), edge.to)})
            if (!m_scene.nodes[node].adjusted(-1, -1, 1, 1).contains(point))
                report(node, QStringLiteral("an edge ends beside it"));
    }
    // The end of an edge must be visible, because it shows the target.
    void checkStub(const SceneStub& stub)
    {
        for (const int edge : m_scene.edgesInside(stub.textRect)) {
            const auto& path = m_scene.edges[edge].path;
            if (stub.textRect.contains(path.back() - QPointF(0, 4)))
                report(stub.node, QStringLiteral("the label of what it takes covers the end of an edge"));
        }
    }

    const Scene& m_scene;
    const Colouring& m_colouring;
    const style::Theme& m_theme;
    QStringList m_faults;
};

}  // namespace

QStringList checkGeometry(const Scene& scene, const Colouring& colouring, const style::Theme& theme)
{
    return Check(scene, colouring, theme).run();
}

}  // namespace hopscope::graphview
