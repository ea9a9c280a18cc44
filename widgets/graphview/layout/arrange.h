#pragma once

// Computes positions for a visible graph. Every frame is laid out as a small graph of its own, from the inside out; the
// prologue flows in rows. Stages are then added as bands, which only move rows apart, so a new plan never needs a new
// layout.

#include <QRectF>
#include <span>
#include <unordered_map>
#include <vector>

#include "graphview/fold/fold.h"
#include "graphview/layout/small_layout.h"
#include "protocol/plan.h"

namespace hopscope::graphview {

using protocol::StageId;

// The most recent layout of every module and of the whole graph. Other folds of the model reuse most of them.
class FrameLayouts {
public:
    // Returns the layout of the module (-1: the whole) if exactly this graph was laid out for it; otherwise null.
    [[nodiscard]] const SmallLayout* find(int module, const SmallGraph& graph) const;
    void keep(int module, const SmallGraph& graph, const SmallLayout& layout);

private:
    struct Known {
        SmallGraph graph;
        SmallLayout layout;
    };
    std::unordered_map<int, Known> m_known;
};

// Lays out a graph from the inside out. Take the graphs of nextRound(), lay them out, and pass the layouts to answer(),
// until nextRound() is empty. Layouts in `known` are not requested again, and new ones are added to it. `known` must
// outlive the arranger.
class Arranger {
public:
    Arranger(const VisibleGraph& graph, std::vector<QSizeF> sizes, FrameLayouts& known);
    std::vector<SmallGraph> nextRound();
    void answer(const std::vector<SmallLayout>& layouts);
    // Returns a rectangle for every node; null for nodes of the prologue.
    [[nodiscard]] std::vector<QRectF> rects() const;

private:
    using Edge = std::pair<int, int>;
    struct Unit {
        int frame = -1, module = -1, level = 0;
        std::span<int> items;  // nodes, then frames (numbered from the number of nodes on)
        std::span<Edge> edges;
        QPointF offset;  // of the contents inside the frame's box
    };
    void addUnits(const VisibleGraph& graph);
    void addItems(const VisibleGraph& graph);
    void addEdges(const VisibleGraph& graph);
    Edge lifted(const VisibleEdge& edge, int& unit);
    void keepEdges(const std::vector<std::pair<int, Edge>>& edges);
    std::vector<SmallGraph> unknownGraphs();
    void fill(SmallGraph& graph, const Unit& unit) const;
    void take(Unit& unit, const SmallLayout& layout);
    void frameSize(Unit& unit, const SmallLayout& layout);
    void spread(const Unit& unit, QPointF origin, std::vector<QRectF>& rects) const;
    [[nodiscard]] int unitOf(int frame) const { return frame + 1; }

    FrameLayouts& m_known;
    int m_nodes = 0;
    std::vector<QSizeF> m_sizes;     // by item
    std::vector<int> m_parent;       // by item: its unit
    std::vector<int> m_slot;         // by item: its index among the items of its unit
    std::vector<char> m_outside;     // by item: something outside its unit is connected to it
    std::vector<QPointF> m_centres;  // by item, once its unit has been laid out
    std::vector<int> m_items;        // by unit
    std::vector<Edge> m_edges;       // by unit, ascending, between slots
    std::vector<Unit> m_units;       // [0]: the whole; then by frame
    std::vector<int> m_asked;        // the units of the current round that are to be laid out
    int m_round = 0;
};

inline constexpr qreal frameSide = 20, framePad = 11, frameTitle = 22;

// The stage in which each node is drawn, and the later ones that recompute part of it.
struct Staging {
    std::vector<StageId> stage;                       // by node; none: inputs and prologue
    std::vector<StageId> lastStage;                   // for boxes that hold several stages; otherwise as `stage`
    std::vector<std::vector<StageId>> again;          // by node
    base::IdVector<OpId, std::vector<StageId>> byOp;  // the stages that compute the operator, ascending
    int count = 0;                                    // 0: no plan, one band
};
Staging stageNodes(const VisibleGraph& graph, const protocol::ModelRecord& model, const protocol::PlanRecord* plan);

struct Band {
    StageId stage;  // none: prologue and inputs
    qreal top = 0, bottom = 0;
    // Counts only the stages that are visible here; later stages inside folded modules have no band of their own.
    StageId last;
};

struct Stacked {
    std::vector<QRectF> nodes;
    std::vector<Band> bands;  // touching, top to bottom, by stage
    QRectF bounds;
};

// Moves nodes vertically only, so that every stage has a band of its own. Within a band, distances are kept, except
// that empty stretches are shortened. Places the prologue and the inputs in the first band. Takes near-linear time.
Stacked stack(const VisibleGraph& graph, const std::vector<QRectF>& arranged, const std::vector<QSizeF>& sizes,
              const Staging& staging);

// Returns the rectangle of each frame around its nodes; null if the bands have torn the frame apart so that it would
// cover other nodes.
std::vector<QRectF> frameRects(const VisibleGraph& graph, const std::vector<QRectF>& nodes);

}  // namespace hopscope::graphview
