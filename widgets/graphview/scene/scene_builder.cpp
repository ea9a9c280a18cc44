#include "graphview/scene/scene_builder.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "graphview/scene/router.h"
#include "models/labels.h"
#include "models/pins.h"

namespace hopscope::graphview {

namespace {

constexpr qreal storeWidth = 96, storeHeight = 32, storeGap = 30;
constexpr qreal namedWidth = 140, namedHeight = 46;
constexpr std::size_t maxApart = 4;  // more stores at one place are one
constexpr qreal stubLength = 34, stubText = 110, leastWord = 40;
constexpr qreal depthChip = 20;    // over the right end of the upper edge
constexpr qreal besideMiddle = 8;  // where edges from above end

QString bytesText(const QString& arrow, std::optional<std::int64_t> bytes)
{
    return bytes ? arrow + QLatin1Char(' ') + models::formatBytes(static_cast<double>(*bytes)) : QString();
}

// Stores are looked up by height.
int rowOf(qreal y) { return static_cast<int>(std::floor(y / storeHeight)); }

bool isPinned(const protocol::PlanRecord& plan, protocol::ValueId value)
{
    const plan::Pin store{.kind = base::PinKind::Checkpoint, .value = value};
    return std::ranges::find(plan.pins, store) != plan.pins.end();
}

// Edges enter a node on the side that they come from.
bool enteredFromLeftOnly(const Scene& scene, int node)
{
    constexpr qreal nearMiddle = 30;
    bool left = false, right = false;
    for (const VisibleEdge& edge : scene.graph->edges) {
        const qreal aside = scene.nodes[edge.from].center().x() - scene.nodes[node].center().x();
        if (edge.to == node && std::abs(aside) > nearMiddle) (aside < 0 ? left : right) = true;
    }
    return left && !right;
}

}  // namespace

SceneBuilder::SceneBuilder(SceneInput input)
    : m_input(std::move(input)),
      m_memory(m_input.memory ? *m_input.memory : m_ownMemory),
      m_measure(m_memory.texts)
{}

ScenePtr SceneBuilder::build()
{
    m_scene->graph = std::move(m_input.graph);
    m_scene->sizes = std::move(m_input.sizes);
    m_scene->innerStores.assign(m_scene->graph->nodes.size(), 0);
    placeNodes();
    placeFrames();
    placeStubs();
    if (m_input.plan) findCheckpoints();
    routeEdges();
    indexEdges();
    if (m_input.plan) placeStores();
    if (m_input.plan) markPins();
    growBounds();
    return m_scene;
}

ScenePtr SceneBuilder::buildOver(const Scene& base)
{
    *m_scene = base;
    m_base = &base;
    m_scene->stores.clear();
    m_scene->innerStores.assign(base.nodes.size(), 0);
    m_scene->pins.clear();
    m_scene->staging = stageNodes(*base.graph, *m_input.model, m_input.plan);
    findCheckpoints();
    for (std::size_t i = 0; i < m_scene->edges.size(); ++i) markCut(m_scene->edges[i], base.graph->edges[i]);
    placeStores();
    markPins();
    m_scene->moved.assign(base.nodes.size(), StageId());
    for (std::size_t node = 0; node < base.nodes.size(); ++node)
        if (m_scene->staging.stage[node] != base.staging.stage[node])
            m_scene->moved[node] = m_scene->staging.stage[node];
    return m_scene;
}

void SceneBuilder::placeNodes()
{
    Scene& scene = *m_scene;
    scene.staging = stageNodes(*scene.graph, *m_input.model, m_input.plan);
    Stacked stacked = stack(*scene.graph, m_input.arranged, scene.sizes, scene.staging);
    scene.nodes = std::move(stacked.nodes);
    if (m_input.model->splittable) scene.bands = std::move(stacked.bands);
    scene.depthless = !models::depthKnown(*m_input.model);
    scene.bounds = stacked.bounds;
    scene.nodeIndex = GridIndex(scene.nodes);
    scene.texts.reserve(scene.nodes.size());
    for (std::size_t i = 0; i < scene.nodes.size(); ++i)
        scene.texts.push_back(m_measure.fit(scene.graph->nodes[i], scene.nodes[i].size()));
}

void SceneBuilder::placeFrames()
{
    Scene& scene = *m_scene;
    scene.frames = frameRects(*scene.graph, scene.nodes);
    std::vector<int> members(scene.frames.size());
    for (const VisibleNode& node : scene.graph->nodes)
        for (int frame = node.frame; frame >= 0; frame = scene.graph->frames[frame].parent) ++members[frame];
    for (std::size_t i = 0; i < scene.frames.size(); ++i)
        if (scene.nodeIndex.count(scene.frames[i], members[i] + 1) > members[i]) scene.frames[i] = {};
}

// The stored values that each node computes.
void SceneBuilder::findCheckpoints()
{
    m_checkpoints.resize(m_scene->nodes.size());
    for (const protocol::PlanCheckpoint& checkpoint : m_input.plan->checkpoints) {
        const OpId producer = checkpoint.value.valid() ? m_input.model->values[checkpoint.value].producer : OpId();
        const int node = producer.valid() ? m_scene->graph->nodeOf[producer] : -1;
        if (node >= 0) m_checkpoints[node].push_back(&checkpoint);
    }
}

// The stored value that feeds an edge in its target's stage: the edge's own value, or one behind it in the same node.
const protocol::PlanCheckpoint* SceneBuilder::checkpointOn(const VisibleEdge& edge) const
{
    const Staging& staging = m_scene->staging;
    if (m_checkpoints.empty() || m_scene->graph->nodes[edge.to].shape == Shape::Output) return nullptr;
    for (const protocol::PlanCheckpoint* checkpoint : m_checkpoints[edge.from]) {
        if (staging.lastStage[edge.to] <= checkpoint->stage) continue;
        for (const ValueId value : edge.values) {
            const OpId producer = m_input.model->values[value].producer;
            const bool later = producer.valid() && !staging.byOp[producer].empty() &&
                               staging.byOp[producer].back() > checkpoint->stage;
            if (value == checkpoint->value || later) return checkpoint;
        }
    }
    return nullptr;
}

// The obstacles for long edges besides nodes.
std::vector<QRectF> SceneBuilder::obstacles() const
{
    std::vector<QRectF> rects;
    rects.reserve(m_scene->frames.size() + m_scene->stubs.size());
    for (const QRectF& frame : m_scene->frames)
        if (!frame.isNull()) rects.push_back(frame);
    for (const SceneStub& stub : m_scene->stubs) rects.push_back(stub.textRect);
    return rects;
}

std::vector<int> SceneBuilder::shortEdgesFirst() const
{
    std::vector<std::pair<qreal, int>> lengths;
    lengths.reserve(m_scene->graph->edges.size());
    for (const VisibleEdge& edge : m_scene->graph->edges)
        lengths.emplace_back(m_scene->nodes[edge.to].top() - m_scene->nodes[edge.from].bottom(),
                             static_cast<int>(lengths.size()));
    std::sort(lengths.begin(), lengths.end());
    std::vector<int> order;
    order.reserve(lengths.size());
    for (const auto& [length, edge] : lengths) order.push_back(edge);
    return order;
}

void SceneBuilder::routeEdges()
{
    Scene& scene = *m_scene;
    Router router(scene.nodes, scene.nodeIndex, obstacles(), scene.bounds, m_memory.detours);
    std::vector<QPointF> points;
    points.reserve(5 * scene.graph->edges.size());
    std::vector<std::size_t> begins(scene.graph->edges.size()), ends(begins);
    for (int index : shortEdgesFirst()) {
        if (m_input.stop.stop_requested()) return;
        const VisibleEdge& edge = scene.graph->edges[index];
        begins[index] = points.size();
        if (scene.graph->nodes[edge.to].prologue) router.routeFlow(edge.from, edge.to, points);
        else router.route(edge.from, edge.to, points);
        ends[index] = points.size();
    }
    m_memory.detours.endScene();
    scene.points = std::make_shared<const std::vector<QPointF>>(std::move(points));
    const std::span<const QPointF> all(*scene.points);
    for (std::size_t i = 0; i < begins.size(); ++i)
        addEdge(scene.graph->edges[i], all.subspan(begins[i], ends[i] - begins[i]));
}

void SceneBuilder::addEdge(const VisibleEdge& edge, std::span<const QPointF> path)
{
    SceneEdge& drawn = m_scene->edges.emplace_back();
    drawn.from = edge.from;
    drawn.to = edge.to;
    drawn.values = edge.values;
    drawn.path = path;
    markCut(drawn, edge);
}

// By the stages of the edge's target; a batch reads a value once, whatever it does with it.
std::optional<std::int64_t> SceneBuilder::readAlong(const VisibleEdge& edge,
                                                    const protocol::PlanCheckpoint& checkpoint) const
{
    const auto& predicted = m_input.plan->predicted;
    const auto tells = [](const protocol::PredictedStage& stage) { return !stage.reads.empty(); };
    if (!predicted || std::ranges::none_of(predicted->stages, tells)) return checkpoint.bytesRead;
    const Staging& staging = m_scene->staging;
    std::int64_t bytes = 0;
    for (const protocol::PredictedStage& stage : predicted->stages) {
        const bool there = staging.stage[edge.to] <= stage.index && stage.index <= staging.lastStage[edge.to];
        for (const auto& [value, part] : stage.reads) bytes += there && value == checkpoint.value ? part : 0;
    }
    return bytes;
}

void SceneBuilder::markCut(SceneEdge& drawn, const VisibleEdge& edge) const
{
    const protocol::PlanCheckpoint* checkpoint = checkpointOn(edge);
    const auto bytes = checkpoint ? readAlong(edge, *checkpoint) : std::nullopt;
    drawn.cut = checkpoint != nullptr && bytes != 0;  // a box of several stages may need it before it is stored
    drawn.stored = drawn.cut ? checkpoint->value : ValueId();
    drawn.bytes = drawn.cut ? bytesText(QString(), bytes).trimmed() : QString();
}

void SceneBuilder::markPins()
{
    m_scene->pins.resize(m_scene->nodes.size());
    for (SceneEdge& edge : m_scene->edges) edge.pins.clear();
    for (const plan::Pin& pin : m_input.plan->pins) markPin(pin);
}

// A pinned cut is marked on its edge, a pinned store where it is drawn, all else on the node of the operator.
void SceneBuilder::markPin(const plan::Pin& pin)
{
    const auto& values = m_input.model->values;
    const auto nodeOf = [&](protocol::ValueId value) {
        const OpId producer = values.contains(value) ? values[value].producer : OpId();
        return producer.valid() ? m_scene->graph->nodeOf[producer] : -1;
    };
    const auto note = [&](QString& to) {
        to += (to.isEmpty() ? QString() : QStringLiteral("\n")) + models::pinLabel(*m_input.model, pin);
    };
    const int node = nodeOf(pin.kind == base::PinKind::Cut ? pin.consumer : pin.value);
    if (node < 0) return;
    if (pin.kind == base::PinKind::Cut)
        for (SceneEdge& edge : m_scene->edges)
            if (edge.to == node && std::ranges::binary_search(edge.values, pin.value)) return note(edge.pins);
    const auto shows = [&](const SceneStore& store) { return store.value == pin.value; };
    if (pin.kind != base::PinKind::Checkpoint || std::ranges::none_of(m_scene->stores, shows))
        note(m_scene->pins[node]);
}

void SceneBuilder::indexEdges()
{
    Scene& scene = *m_scene;
    std::vector<QRectF> pieces;
    for (std::size_t i = 0; i < scene.edges.size(); ++i) {
        const auto& path = scene.edges[i].path;
        for (std::size_t at = 0; at + 3 < path.size(); at += 3) {
            QRectF box(path[at], QSizeF(1, 1));
            for (std::size_t k = 1; k < 4; ++k) box |= QRectF(path[at + k], QSizeF(1, 1));
            pieces.push_back(box);
            scene.edgeOfPiece.push_back(static_cast<int>(i));
            scene.bounds |= box;
        }
    }
    scene.edgeIndex = GridIndex(pieces);
}

// One label at each node for all inputs from the prologue and all shared inputs.
void SceneBuilder::gatherStubs()
{
    Scene& scene = *m_scene;
    std::vector<int> drawn(scene.nodes.size(), -1);
    for (const Stub& stub : scene.graph->stubs) {
        int& at = drawn[stub.node];
        if (at >= 0) {
            SceneStub& together = scene.stubs[at];
            if (!QStringView(together.tip).split(u", ").contains(QStringView(stub.label)))
                together.tip += QStringLiteral(", ") + stub.label;
            together.values.insert(together.values.end(), stub.values.begin(), stub.values.end());
            continue;
        }
        at = static_cast<int>(scene.stubs.size());
        scene.stubs.push_back({.node = stub.node,
                               .source = stub.source,
                               .text = {},
                               .tip = stub.label,
                               .textRect = {},
                               .from = {},
                               .to = {},
                               .values = {stub.values.begin(), stub.values.end()}});
    }
}

// To the left of the node; over half of it where a neighbour is too near for a word.
void SceneBuilder::placeStub(SceneStub& stub)
{
    const QRectF& box = m_scene->nodes[stub.node];
    const Shape shape = m_scene->graph->nodes[stub.node].shape;
    const QRectF left(box.left() - stubText - stubLength, box.top(), stubText + stubLength - 2, box.height());
    qreal room = left.width();
    for (int other : m_scene->nodeIndex.inside(left))
        if (other != stub.node) room = std::min(room, box.left() - m_scene->nodes[other].right() - 6);
    const qreal line = onGrid(std::clamp(room * 0.4, 8.0, stubLength));
    stub.to = {box.left() + (shape == Shape::Gather ? 6 : 0), box.center().y()};
    stub.from = {box.left() - line, box.center().y()};
    const qreal beside = room - line - 6;
    const bool above = beside < std::min(m_measure.stubWidth(stub.tip), leastWord);
    const bool overRight = above && enteredFromLeftOnly(*m_scene, stub.node);  // beside the chip of its depth
    const qreal half = box.width() / 2 - besideMiddle - (overRight ? depthChip : 0);
    const StubText text = m_measure.fitStub(stub.tip, above ? half : std::max(0.0, beside));
    stub.text = text.text;
    const qreal over = overRight ? box.right() - depthChip - text.width - 2 : box.left();
    stub.textRect = above ? QRectF(over, box.top() - 16, text.width + 2, 15)
                          : QRectF(stub.from.x() - text.width - 5, box.center().y() - 8, text.width + 2, 16);
    m_scene->bounds |= stub.textRect;
}

void SceneBuilder::placeStubs()
{
    gatherStubs();
    for (SceneStub& stub : m_scene->stubs) placeStub(stub);
}

SceneStore SceneBuilder::storeFor(const protocol::PlanCheckpoint& checkpoint) const
{
    const Scene& scene = *m_scene;
    SceneStore store;
    store.value = checkpoint.value;
    store.stage = checkpoint.stage;
    const OpId producer = m_input.model->values[checkpoint.value].producer;
    store.node = producer.valid() ? scene.graph->nodeOf[producer] : -1;
    if (store.node < 0) return store;
    store.pinned = isPinned(*m_input.plan, checkpoint.value);
    store.name = models::valueLabel(*m_input.model, checkpoint.value);
    store.down = bytesText(QStringLiteral("\u2193"), checkpoint.bytesWritten);
    store.up = bytesText(QStringLiteral("\u2191"), checkpoint.bytesRead);
    const QRectF& box = scene.nodes[store.node];
    const Band* band = scene.bandOf(store.stage);
    if (!band || band->bottom < box.bottom()) band = scene.bandOf(scene.staging.stage[store.node]);
    // Bands do not change in a preview: a newly stored value is drawn at the node that makes it.
    const auto before = [&](const SceneStore& known) { return known.value == store.value; };
    const bool fresh = m_base && std::ranges::none_of(m_base->stores, before);
    const bool atBand = !fresh && band && band->bottom > box.bottom();
    const qreal y = atBand ? band->bottom : box.bottom() + storeHeight / 2;
    store.anchor = {box.center().x(), y};
    if (const auto cut = m_cutOf.find(store.value); cut != m_cutOf.end())
        store.anchor = pathAtHeight(scene.edges[cut->second].path, y);
    store.rect = {store.anchor.x() + storeGap, y - storeHeight / 2, storeWidth, storeHeight};
    return store;
}

// A closed box may hold several stages: a value that only the box itself reads has no edge. The prologue reads shapes alone.
bool SceneBuilder::isInner(const SceneStore& store) const
{
    if (m_cutOf.contains(store.value)) return false;
    const auto& consumers = m_input.model->values[store.value].consumers;
    return std::all_of(consumers.begin(), consumers.end(), [&](protocol::OpId op) {
        const int node = m_scene->graph->nodeOf[op];
        return node < 0 || node == store.node || m_scene->graph->nodes[node].prologue;
    });
}

// By the node that makes them and the height at which they are drawn; values that only their own box reads are counted there.
std::vector<std::vector<const protocol::PlanCheckpoint*>> SceneBuilder::storeGroups() const
{
    std::map<std::pair<int, int>, std::size_t> places;
    std::vector<std::vector<const protocol::PlanCheckpoint*>> groups;
    for (const protocol::PlanCheckpoint& checkpoint : m_input.plan->checkpoints) {
        if (checkpoint.output || !checkpoint.value.valid()) continue;
        const SceneStore store = storeFor(checkpoint);
        if (store.node < 0) continue;
        if (isInner(store)) {
            ++m_scene->innerStores[store.node];
            continue;
        }
        const auto [place, fresh] = places.try_emplace({store.node, rowOf(store.anchor.y())}, groups.size());
        if (fresh) groups.emplace_back();
        groups[place->second].push_back(&checkpoint);
    }
    return groups;
}

void SceneBuilder::joinStore(SceneStore& store, const std::vector<const protocol::PlanCheckpoint*>& group) const
{
    std::optional<std::int64_t> written, read;
    for (const protocol::PlanCheckpoint* checkpoint : group) {
        if (checkpoint->bytesWritten) written = written.value_or(0) + *checkpoint->bytesWritten;
        if (checkpoint->bytesRead) read = read.value_or(0) + *checkpoint->bytesRead;
        store.pinned = store.pinned || isPinned(*m_input.plan, checkpoint->value);
    }
    store.count = static_cast<int>(group.size());
    store.name = m_scene->graph->nodes[store.node].label;
    store.down = bytesText(QStringLiteral("\u2193"), written);
    store.up = bytesText(QStringLiteral("\u2191"), read);
}

void SceneBuilder::placeStores()
{
    const auto& edges = m_scene->edges;
    for (std::size_t i = 0; i < edges.size(); ++i)
        if (edges[i].cut) m_cutOf.try_emplace(edges[i].stored, i);
    for (const auto& group : storeGroups()) {
        const bool together = group.size() > maxApart;
        for (const protocol::PlanCheckpoint* checkpoint : group) {
            m_scene->stores.push_back(storeFor(*checkpoint));
            if (together) joinStore(m_scene->stores.back(), group);
            if (together) break;
        }
    }
    nameNeighbours();
    spreadStores();
}

// If several stores are side by side, each shows the name of its value.
void SceneBuilder::nameNeighbours()
{
    std::unordered_map<int, int> inRow;
    for (const SceneStore& store : m_scene->stores) ++inRow[rowOf(store.anchor.y())];
    for (SceneStore& store : m_scene->stores) {
        if (inRow[rowOf(store.anchor.y())] < 2) continue;
        store.named = true;
        store.rect = {store.rect.left(), store.anchor.y() - namedHeight / 2, namedWidth, namedHeight};
    }
}

// Whether a store's place is free of other stores, of titles, and of edges that cross it.
bool SceneBuilder::storeFits(const QRectF& rect) const
{
    for (int row = rowOf(rect.top()); row <= rowOf(rect.bottom()); ++row) {
        const auto near = m_storeRows.find(row);
        if (near == m_storeRows.end()) continue;
        for (const QRectF& other : near->second)
            if (other.adjusted(-6, 0, 6, 0).intersects(rect)) return false;
    }
    const QRectF room = rect.adjusted(-5, 4, 5, -4);
    if (m_scene->nodeIndex.count(room, 1) > 0) return false;
    for (int edge : m_scene->edgesInside(room)) {
        const QPointF at = pathAtHeight(m_scene->edges[edge].path, rect.center().y());
        if (room.left() < at.x() && at.x() < room.right()) return false;
    }
    return true;
}

void SceneBuilder::occupy(const QRectF& rect)
{
    for (int row = rowOf(rect.top()); row <= rowOf(rect.bottom()); ++row) m_storeRows[row].push_back(rect);
}

// Placed next to the cut edge, on the nearer free side; titles of modules stay legible.
void SceneBuilder::spreadStores()
{
    constexpr int maxTries = 40;
    constexpr qreal titleWidth = 90;
    for (const QRectF& frame : m_scene->frames)
        if (!frame.isNull())
            occupy({frame.topLeft(), QSizeF(std::min(titleWidth, frame.width() / 2 - 12), frameTitle)});
    for (auto& store : m_scene->stores) {
        const QRectF first = store.rect;
        for (int attempt = 0; attempt < maxTries; ++attempt) {
            const qreal away = attempt * 12;
            const QRectF right = first.translated(away, 0);
            const QRectF left = first.translated(-2 * storeGap - first.width() - away, 0);
            store.rect = storeFits(right) ? right : left;
            if (storeFits(store.rect)) break;
        }
        occupy(store.rect);
        m_scene->bounds |= store.rect;
    }
}

void SceneBuilder::growBounds()
{
    for (const QRectF& frame : m_scene->frames) m_scene->bounds |= frame;
    m_scene->bounds.adjust(-40, 0, 40, 0);
}

}  // namespace hopscope::graphview
