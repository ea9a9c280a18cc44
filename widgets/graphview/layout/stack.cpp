#include <algorithm>
#include <map>
#include <numeric>

#include "graphview/fold/strong_components.h"
#include "graphview/layout/arrange.h"

namespace hopscope::graphview {

namespace {

constexpr qreal bandTopPad = 27, bandBottomPad = 27;
constexpr qreal maxGap = 54, squeezedGap = 38;
constexpr qreal flowGap = 26, rowGap = 20;
constexpr qreal besideLimit = 460;  // a prologue so wide still fits beside the inputs

// The stages that compute each operator.
base::IdVector<OpId, std::vector<StageId>> stagesByOp(std::size_t ops, const protocol::PlanRecord& plan)
{
    base::IdVector<OpId, std::vector<StageId>> stages(ops);
    for (const protocol::PlanStage& stage : plan.stages)
        for (const protocol::PlanStep& step : stage.steps) {
            if (!stages.contains(step.op)) continue;
            auto& list = stages[step.op];
            if (list.empty() || list.back() != stage.index) list.push_back(stage.index);
        }
    return stages;
}

// Reshapes cost nothing, so recomputed ones are not hatched.
bool isReshape(const protocol::OpRecord& op) { return op.view && op.kind == protocol::NodeKind::Rowwise; }

void stageNode(const VisibleNode& node, const protocol::ModelRecord& model, Staging& staging, std::size_t index)
{
    const auto& byOp = staging.byOp;
    StageId first, last;
    std::vector<StageId>& again = staging.again[index];
    for (const OpId op : node.ops) {
        if (byOp[op].empty()) continue;
        const StageId stage = byOp[op].front();
        first = first.valid() ? std::min(first, stage) : stage;
        last = std::max(last, stage);
        if (!isReshape(model.ops[op])) again.insert(again.end(), byOp[op].begin() + 1, byOp[op].end());
    }
    std::sort(again.begin(), again.end());
    again.erase(std::unique(again.begin(), again.end()), again.end());
    staging.stage[index] = first;
    staging.lastStage[index] = last;
}

std::vector<std::pair<int, int>> pairs(const VisibleGraph& graph)
{
    std::vector<std::pair<int, int>> edges;
    edges.reserve(graph.edges.size());
    for (const VisibleEdge& edge : graph.edges) edges.emplace_back(edge.from, edge.to);
    return edges;
}

// No node is drawn above its predecessors: a node without a stage, or with an earlier one than theirs, takes their stage.
void makeMonotone(const VisibleGraph& graph, Staging& staging)
{
    const Successors out(static_cast<int>(graph.nodes.size()), pairs(graph));
    for (int node : topologicalOrder(out)) {
        const bool outside = graph.nodes[node].prologue || graph.nodes[node].shape == Shape::Input;
        if (outside) staging.stage[node] = StageId();
        else if (!staging.stage[node].valid()) staging.stage[node] = StageId(1);
        for (int at = out.begin[node]; at < out.begin[node + 1]; ++at) {
            const int target = out.items[at];
            staging.stage[target] = std::max(staging.stage[target], staging.stage[node]);
        }
        staging.lastStage[node] = std::max(staging.lastStage[node], staging.stage[node]);
    }
}

// Vertical stretches without a node inside of one band become short ones; `y` sorted. Returns the new y of each.
void squeeze(const std::vector<int>& order, std::vector<QRectF>& rects)
{
    qreal bottom = 0, cut = 0;
    bool first = true;
    for (int node : order) {
        const qreal top = rects[node].top();
        if (!first && top - bottom > maxGap) cut += top - bottom - squeezedGap;
        bottom = first ? rects[node].bottom() : std::max(bottom, rects[node].bottom());
        first = false;
        rects[node].translate(0, -cut);
    }
}

void translateAll(const std::vector<int>& nodes, std::vector<QRectF>& rects, qreal dy)
{
    for (int node : nodes) rects[node].translate(0, dy);
}

// From top to bottom; ties in the order given.
void sortByTop(std::vector<int>& nodes, const std::vector<QRectF>& rects)
{
    std::vector<std::tuple<qreal, std::size_t, int>> order;
    order.reserve(nodes.size());
    for (int node : nodes) order.emplace_back(rects[node].top(), order.size(), node);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i) nodes[i] = std::get<int>(order[i]);
}

// Squeezing compares with places before the shift: all at once afterwards.
qreal placeBand(std::vector<int> nodes, std::vector<QRectF>& rects, qreal top)
{
    sortByTop(nodes, rects);
    squeeze(nodes, rects);
    translateAll(nodes, rects, top + bandTopPad - rects[nodes.front()].top());
    qreal bottom = top;
    for (int node : nodes) bottom = std::max(bottom, rects[node].bottom());
    return bottom + bandBottomPad;
}

// Side by side in the given order, in rows of at most `width`; returns the size.
QSizeF flow(const std::vector<int>& nodes, const std::vector<QSizeF>& sizes, qreal width, std::vector<QRectF>& rects)
{
    qreal x = 0, y = 0, right = 0, height = 0;
    for (int node : nodes) {
        if (x > 0 && x + sizes[node].width() > width) x = 0, y += height + rowGap, height = 0;
        rects[node] = {QPointF(x, y), sizes[node]};
        right = std::max(right, rects[node].right());
        height = std::max(height, sizes[node].height());
        x = rects[node].right() + flowGap;
    }
    return {right, y + height};
}

// The prologue in topological order.
std::vector<int> prologueOrder(const VisibleGraph& graph)
{
    const int nodes = static_cast<int>(graph.nodes.size());
    std::vector<int> order;
    for (int node = 0; node < nodes; ++node)
        if (graph.nodes[node].prologue) order.push_back(node);
    if (order.empty()) return order;
    // All other nodes follow.
    std::vector<std::pair<int, int>> inside;
    for (const VisibleEdge& edge : graph.edges)
        if (graph.nodes[edge.to].prologue) inside.emplace_back(edge.from, edge.to);
    const std::vector<int> layers = longestPathLayers({std::vector<QSizeF>(nodes), std::move(inside)});
    const auto key = [&](int node) {
        return std::tuple(graph.nodes[node].shape == Shape::Input ? 0 : 1, layers[node], graph.nodes[node].op);
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    return order;
}

// Inputs stay above their first users and are pushed apart if they would overlap.
void alignInputs(std::vector<int> inputs, std::vector<QRectF>& rects)
{
    std::stable_sort(inputs.begin(), inputs.end(), [&](int a, int b) { return rects[a].left() < rects[b].left(); });
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        QRectF& rect = rects[inputs[i]];
        rect.moveTop(0);
        if (i > 0) rect.moveLeft(std::max(rect.left(), rects[inputs[i - 1]].right() + flowGap));
    }
}

QRectF united(const std::vector<int>& nodes, const std::vector<QRectF>& rects)
{
    QRectF all;
    for (int node : nodes) all |= rects[node];
    return all;
}

// Places nodes without a stage: the prologue next to the inputs if it is small, else above. Returns the band's bottom.
qreal placeFirstBand(const VisibleGraph& graph, const std::vector<int>& inputs, const std::vector<QSizeF>& sizes,
                     QRectF below, std::vector<QRectF>& rects)
{
    const std::vector<int> prologue = prologueOrder(graph);
    alignInputs(inputs, rects);
    const QRectF row = inputs.empty() ? QRectF(below.center().x(), 0, 0, 0) : united(inputs, rects);
    const QSizeF extent = flow(prologue, sizes, std::max<qreal>(below.width(), 1100), rects);
    const bool beside = extent.width() <= besideLimit;
    // To the right of the inputs: titles are on the left.
    const qreal left = beside ? row.right() + 2 * flowGap : below.center().x() - extent.width() / 2;
    for (int node : prologue) rects[node].translate(left, bandTopPad);
    const qreal shift = bandTopPad + (beside || prologue.empty() ? 0 : extent.height() + rowGap);
    translateAll(inputs, rects, shift);
    if (beside && !prologue.empty() && !inputs.empty())
        translateAll(inputs, rects, std::max<qreal>(0, (extent.height() - row.height()) / 2));
    qreal bottom = 0;
    for (const auto& list : {prologue, inputs})
        for (int node : list) bottom = std::max(bottom, rects[node].bottom());
    return bottom == 0 ? 0 : bottom + bandBottomPad - 8;
}

// Every stage has its name on some band.
void nameBands(std::vector<Band>& bands, int stages)
{
    for (std::size_t i = 0; i < bands.size(); ++i) {
        const int last = i + 1 < bands.size() ? bands[i + 1].stage.number - 1 : stages;
        bands[i].last = bands[i].stage.valid() ? std::max(bands[i].stage, StageId(last)) : StageId();
    }
}

std::map<StageId, std::vector<int>> nodesByStage(const VisibleGraph& graph, const Staging& staging)
{
    std::map<StageId, std::vector<int>> byStage;
    for (std::size_t node = 0; node < graph.nodes.size(); ++node)
        if (!graph.nodes[node].prologue) byStage[staging.stage[node]].push_back(static_cast<int>(node));
    return byStage;
}

}  // namespace

Staging stageNodes(const VisibleGraph& graph, const protocol::ModelRecord& model, const protocol::PlanRecord* plan)
{
    const std::size_t nodes = graph.nodes.size();
    Staging staging{.stage = std::vector<StageId>(nodes),
                    .lastStage = std::vector<StageId>(nodes),
                    .again = std::vector<std::vector<StageId>>(nodes),
                    .byOp = {},
                    .count = 0};
    if (plan) {
        staging.count = static_cast<int>(plan->stages.size());
        staging.byOp = stagesByOp(model.ops.size(), *plan);
        for (std::size_t i = 0; i < nodes; ++i) stageNode(graph.nodes[i], model, staging, i);
    }
    makeMonotone(graph, staging);
    return staging;
}

Stacked stack(const VisibleGraph& graph, const std::vector<QRectF>& arranged, const std::vector<QSizeF>& sizes,
              const Staging& staging)
{
    Stacked result{.nodes = arranged, .bands = {}, .bounds = {}};
    const auto byStage = nodesByStage(graph, staging);
    QRectF below;
    for (const auto& [stage, nodes] : byStage)
        if (stage.valid()) below |= united(nodes, arranged);
    const auto inputs = byStage.find(StageId());
    qreal bottom = placeFirstBand(graph, inputs == byStage.end() ? std::vector<int>{} : inputs->second, sizes, below,
                                  result.nodes);
    if (bottom > 0) result.bands.push_back({.stage = {}, .top = 0, .bottom = bottom, .last = {}});
    for (const auto& [stage, nodes] : byStage) {
        if (!stage.valid()) continue;
        const qreal top = bottom;
        bottom = placeBand(nodes, result.nodes, top);
        result.bands.push_back({.stage = stage, .top = top, .bottom = bottom, .last = stage});
    }
    nameBands(result.bands, staging.count);
    for (const QRectF& rect : result.nodes) result.bounds |= rect;
    result.bounds.setTop(0);
    result.bounds.setBottom(bottom);
    return result;
}

std::vector<QRectF> frameRects(const VisibleGraph& graph, const std::vector<QRectF>& nodes)
{
    std::vector<QRectF> rects(graph.frames.size());
    for (std::size_t node = 0; node < nodes.size(); ++node)
        if (const int frame = graph.nodes[node].frame; frame >= 0) rects[frame] |= nodes[node];
    for (std::size_t i = rects.size(); i-- > 0;) {
        rects[i].adjust(-frameSide, -frameTitle, frameSide, framePad);
        if (const int parent = graph.frames[i].parent; parent >= 0) rects[parent] |= rects[i];
    }
    return rects;
}

}  // namespace hopscope::graphview
