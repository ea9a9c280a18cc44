#pragma once

// The laid-out picture as plain geometry for painting, hit testing, search, export and checks. It is immutable once
// built. Coordinates are in pixels of the unscaled picture.

#include <QPainterPath>
#include <QRectF>
#include <QString>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "graphview/fold/fold.h"
#include "graphview/layout/arrange.h"
#include "graphview/scene/grid_index.h"
#include "graphview/scene/text_measure.h"

namespace hopscope::graphview {

struct SceneEdge {
    int from = 0, to = 0;
    std::span<const ValueId> values;  // in the graph
    std::span<const QPointF> path;    // in Scene::points: start, then three points for every Bézier curve
    bool cut = false;                 // its value is stored between the stages of its ends
    ValueId stored;                   // for a cut: the stored value
    QString bytes;                    // for a cut: the bytes read along it; may be empty
    QString pins;                     // text for the user's pins; empty if there are none
};

struct SceneStub {
    int node = 0, source = 0;
    QString text, tip;  // as far as it fits, and complete
    QRectF textRect;
    QPointF from, to;
    std::vector<ValueId> values;
};

// A stored value, between two stages. Several stored values of one box at one position are drawn as one.
struct SceneStore {
    ValueId value;
    int count = 1;  // if more than one: `value` is the first of them, and bytes are sums
    int node = -1;  // the node that computes the value
    StageId stage;  // the stage that writes it
    bool pinned = false;
    QString name;        // of its value, "relu after convs.0"; for several values, of their box
    bool named = false;  // drawn with its name because others are next to it
    QString down, up;    // "↓ 692 kB", "↑ 2.1 MB"
    QRectF rect;         // glyph and text
    QPointF anchor;      // on the edge that is cut
};

struct Scene {
    GraphPtr graph;
    Staging staging;
    std::vector<QSizeF> sizes;
    std::vector<QRectF> nodes;
    std::vector<NodeText> texts;
    std::vector<QRectF> frames;  // null: not drawn
    std::vector<SceneEdge> edges;
    std::shared_ptr<const std::vector<QPointF>> points;  // of all paths
    std::vector<SceneStub> stubs;
    std::vector<SceneStore> stores;
    std::vector<int> innerStores;  // by node: stored values that are computed and read only inside it
    std::vector<QString> pins;     // by node: text for the user's pins; empty if there are none
    std::vector<StageId> moved;    // in a preview, by node: the stage to which it would move; none: it stays
    std::vector<Band> bands;       // none for a model that cannot be split
    bool depthless = false;        // depths are not known
    QRectF bounds;
    GridIndex nodeIndex, edgeIndex;
    std::vector<int> edgeOfPiece;  // by rectangle of edgeIndex

    [[nodiscard]] int nodeAt(QPointF point) const;                  // -1: none
    [[nodiscard]] int edgeAt(QPointF point, qreal distance) const;  // -1: none
    [[nodiscard]] int storeAt(QPointF point) const;
    [[nodiscard]] int frameTitleAt(QPointF point) const;
    [[nodiscard]] std::vector<int> edgesInside(const QRectF& area) const;
    [[nodiscard]] const Band* bandOf(StageId stage) const;  // the band that shows the stage; null: none does
};

using ScenePtr = std::shared_ptr<const Scene>;

struct SceneMemory;

struct SceneInput {
    GraphPtr graph;
    std::vector<QSizeF> sizes;
    std::vector<QRectF> arranged;  // from the Arranger
    const protocol::ModelRecord* model = nullptr;
    const protocol::PlanRecord* plan = nullptr;  // null: one band
    SceneMemory* memory = nullptr;               // shared by all scenes of the model; used and extended; null: none
    std::stop_token stop;                        // after a stop, buildScene() returns early with a useless scene
};

// Adds bands, frames, edges, stubs and stores to arranged nodes, in near-linear time and without a new layout.
ScenePtr buildScene(SceneInput input);
// Returns the same layout with the cuts, stores and stages of a different plan.
ScenePtr previewScene(const Scene& scene, const protocol::ModelRecord& model, const protocol::PlanRecord& plan);

// Returns the sizes of nodes for their texts and shapes; measured texts are cached in `memory`.
std::vector<QSizeF> nodeSizes(const VisibleGraph& graph, TextMemory& memory);

QPainterPath edgePath(std::span<const QPointF> points);
QPointF pointOnPath(std::span<const QPointF> points, qreal t);  // t in [0, 1] over all curves
QPointF pathAtHeight(std::span<const QPointF> points, qreal y);

}  // namespace hopscope::graphview
