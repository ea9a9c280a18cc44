#pragma once

// The parts that paintScene() draws, each in a source file of its own: bands, edges, stores, nodes and their marks.

#include "graphview/scene/scene_painter.h"

namespace hopscope::graphview {

// Letters of fewer pixels on the screen cannot be read. When the view is zoomed out, names grow as far as their room
// allows; at smaller scales neither the names nor the boxes around them are drawn.
constexpr qreal legible = 7;
// The largest sizes in pixels of the scene: of names, of frame titles, and of all other text.
constexpr int mostLabel = 28, mostTitle = 15, mostMark = 12;
constexpr qreal textScale = legible / mostLabel, titleScale = legible / mostTitle, detailScale = legible / mostMark;
// Returns a font of the scene that is legible on the screen.
QFont legibleFont(const PaintContext& c, const QFont& font);
constexpr qreal fadedOpacity = 0.28;

// Returns true if a search has not found the node, or if the node is outside the cone of the hovered one.
bool faded(const PaintContext& c, int node);

// Paints the colour of each stage, below everything else.
void paintBands(const PaintContext& c, const QRectF& exposed);
QString bandTitle(const Band& band);  // "Stages 1–4" if a folded module holds them all
// Paints the borders of stages with their titles and progress, above the frames because a module may extend over
// several stages.
void paintBandEdges(const PaintContext& c, const QRectF& exposed);
void paintFrames(const PaintContext& c, const QRectF& exposed);

void paintEdges(const PaintContext& c, const QRectF& exposed);
void paintStubs(const PaintContext& c, const QRectF& exposed);

// Paints the line from a cut edge to its store.
void paintStoreLine(const PaintContext& c, const SceneStore& store, const QRectF& exposed);
void paintStore(const PaintContext& c, const SceneStore& store);

// Paints a node with all its marks.
void paintNode(const PaintContext& c, int node);
void paintBadge(const PaintContext& c, int node);        // depth
QString badgeText(const VisibleNode& node);              // "3", or "depth 1–40" for a box
void paintStageRange(const PaintContext& c, int node);   // the stages inside a box of several
void paintInnerStores(const PaintContext& c, int node);  // the number of values stored inside
void paintRefusal(const PaintContext& c, int node);      // the operator prevents splitting the model
void paintBookmark(const PaintContext& c, int node);
void paintBreakpoint(const PaintContext& c, int node);
void paintExpander(const PaintContext& c, int node);  // the glyph that opens it
void paintMove(const PaintContext& c, int node);      // in a preview: the stage to which it would move

}  // namespace hopscope::graphview
