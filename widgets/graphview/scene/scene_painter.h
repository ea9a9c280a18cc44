#pragma once

// Paints a scene in its own coordinates: on the screen, into tiles of a large picture, and as SVG and PDF. Keeps no
// state.

#include <QPainter>
#include <vector>

#include "graphview/scene/colours.h"
#include "graphview/scene/scene.h"
#include "models/run_log.h"

namespace hopscope::graphview {

// Tells whether runs stop at an item, or at a hidden part of it.
enum class BreakMark : char { None, Inside, Here };

struct PaintState {
    std::vector<char> selected, found, cone, bookmarked;  // by node; empty: none
    std::vector<BreakMark> breakpoints;                   // by node; empty: none
    std::vector<BreakMark> bandBreakpoints;               // by band; empty: none
    QStringList breakpointTips;                           // by node: the text of its breakpoints; empty: none
    int refused = -1;  // the node with the operator that prevents splitting the model
    int hoveredNode = -1, hoveredEdge = -1, selectedEdge = -1;
    ValueId selectedStore;
    int stubSource = -1;  // all uses of this node are marked
    StageId stage;        // this band is marked; none: no band is
    const models::RunLog* run = nullptr;
    qreal titleX = 0;  // left edge of band titles, in scene coordinates
    qreal scale = 1;
    bool picture = false;  // for a file: no hover and no clickable glyphs
};

// The content, position and style of one picture. It holds only references and must not outlive the painting.
struct PaintContext {
    QPainter& painter;
    const Scene& scene;
    const Colouring& colouring;
    const style::Theme& theme;
    const PaintState& state;
};

// Paints everything that touches the area, back to front.
void paintScene(const PaintContext& context, const QRectF& exposed);

QPainterPath shapePath(Shape shape, const QRectF& rect);
void paintCylinder(QPainter& painter, const QRectF& rect, const style::Theme& theme);
// Paints a pin with its point at `tip`, where the user has made a decision.
void paintPin(QPainter& painter, QPointF tip, const style::Theme& theme);
// Paints a disc, like the mark next to a line in an editor, or a ring if the breakpoint is inside.
void paintBreakpointMark(QPainter& painter, QPointF centre, BreakMark mark, const style::Theme& theme,
                         qreal radius = 6);
// Returns the rectangle of the glyph that opens a node.
QRectF expanderRect(const QRectF& node);

}  // namespace hopscope::graphview
