#pragma once

// Paints a scene in its own coordinates: on the screen, into tiles of a large picture, as SVG and PDF. Keeps no state.

#include <QPainter>
#include <QSet>
#include <vector>

#include "graphview/scene/colours.h"
#include "graphview/scene/scene.h"
#include "models/run_log.h"

namespace hopscope::graphview {

struct PaintState {
    std::vector<char> selected, found, cone, bookmarked;  // by node; empty: none
    int hoveredNode = -1, hoveredEdge = -1, selectedEdge = -1;
    int selectedStore = -1;
    int stubSource = -1;  // all uses of this node are marked
    int stage = 0;        // this band is marked; 0: none
    const models::RunLog* run = nullptr;
    qreal titleX = 0;  // left edge of band titles, in scene coordinates
    qreal scale = 1;
    bool picture = false;  // for a file: no hover, no glyphs to click
};

class ScenePainter {
public:
    ScenePainter(QPainter& painter, const Scene& scene, const Colouring& colouring, const style::Theme& theme,
                 const PaintState& state);

    void paint(const QRectF& exposed);  // everything that touches the area, back to front
    void paintBands(const QRectF& exposed);
    void paintNode(int node);
    void paintStore(const SceneStore& store);

private:
    void paintBandEdges(const QRectF& exposed);
    void paintBandTitle(const Band& band);
    void paintProgress(const Band& band, QPointF at);
    void paintFrames(const QRectF& exposed);
    void paintEdges(const QRectF& exposed);
    void paintEdge(int edge);
    void paintArrow(QPointF tip, QPointF from, const QColor& colour, qreal size);
    void paintCutBytes(const std::vector<int>& edges);
    [[nodiscard]] QRectF roomBeside(const SceneEdge& edge, const std::vector<QRectF>& taken) const;
    void paintStubs(const QRectF& exposed);
    void paintStoreLine(const SceneStore& store, const QRectF& exposed);
    void paintCount(const QRectF& store, int count);
    void paintStack(int node);
    void paintHatching(int node, const QPainterPath& path);
    void paintText(int node);
    void paintBadge(int node);
    void paintInnerStores(int node);
    void paintExpander(int node);
    void paintBookmark(int node);
    void paintMove(int node);
    [[nodiscard]] bool faded(int node) const;
    [[nodiscard]] bool marked(const std::vector<char>& list, int node) const;
    [[nodiscard]] QPen borderOf(int node) const;

    QPainter& m_painter;
    const Scene& m_scene;
    const Colouring& m_colouring;
    const style::Theme& m_theme;
    const PaintState& m_state;
};

QPainterPath shapePath(Shape shape, const QRectF& rect);
void paintCylinder(QPainter& painter, const QRectF& rect, const style::Theme& theme);
// A pin that was stuck in with its point at `tip`: the user has decided something there.
void paintPin(QPainter& painter, QPointF tip, const style::Theme& theme);
// Where the glyph that opens a node is.
QRectF expanderRect(const QRectF& node);

}  // namespace hopscope::graphview
