#include "graphview/layout/layout_batch.h"

#include "protocol/framing.h"
#include "json/json.h"

namespace hopscope::graphview {

namespace {

constexpr qsizetype maxCached = 20'000;
constexpr double askedHeight = 30;  // of all: theirs follow by withHeights()

json::Value pairOf(double a, double b) { return json::Value(json::Array{json::Value(a), json::Value(b)}); }

// Chains stay straight, however many edges skip them: those go around.
json::Value weightsOf(const SmallGraph& graph)
{
    constexpr int straight = 100;
    const std::vector<int> layers = longestPathLayers(graph);
    json::Value weights = json::Value::array();
    for (const auto& [from, to] : graph.edges) weights.push(layers[to] - layers[from] == 1 ? straight : 1);
    return weights;
}

std::string requestText(qint64 id, const SmallGraph& graph)
{
    json::Value request = json::Value::object();
    json::Value nodes = json::Value::array(), edges = json::Value::array();
    for (const QSizeF& size : graph.sizes) nodes.push(pairOf(size.width(), askedHeight));
    for (const auto& [from, to] : graph.edges) edges.push(json::Value(json::Array{json::Value(from), json::Value(to)}));
    request["id"] = id;
    request["nodes"] = std::move(nodes);
    request["edges"] = std::move(edges);
    request["gaps"] = pairOf(nodeGap, rankGap);
    request["weights"] = weightsOf(graph);
    return json::write(request);
}

std::optional<QPointF> pointOf(const json::Value& value)
{
    const auto* items = value.asArray();
    if (!items || items->size() != 2) return std::nullopt;
    const double* x = (*items)[0].asDouble();
    const double* y = (*items)[1].asDouble();
    if (!x || !y) return std::nullopt;
    return QPointF(*x, *y);
}

}  // namespace

std::optional<SmallLayout> LayoutCache::find(const QByteArray& hash) const
{
    const std::lock_guard lock(m_mutex);
    const auto known = m_layouts.constFind(hash);
    return known == m_layouts.constEnd() ? std::nullopt : std::optional(*known);
}

void LayoutCache::insert(const QByteArray& hash, const SmallLayout& layout)
{
    const std::lock_guard lock(m_mutex);
    if (m_layouts.size() >= maxCached) m_layouts.clear();
    m_layouts.insert(hash, layout);
}

namespace {

// The layout of a graph that is not a chain: cached, copied from a twin, left to the helper, or computed here.
void prepareOne(LayoutBatch& batch, int index, qint64 firstId, QHash<QByteArray, int>& asked, LayoutCache& cache,
                const std::stop_token& stop)
{
    const SmallGraph& graph = batch.graphs[index];
    const QByteArray hash = contentHash(graph);
    if (auto known = cache.find(hash)) {
        batch.layouts[index] = withHeights(graph, std::move(*known));
    } else if (const auto twin = asked.constFind(hash); twin != asked.constEnd()) {
        batch.twin[index] = *twin;
    } else if (suitsDot(graph)) {
        asked.insert(hash, index);
        batch.waiting[index] = true;
        ++batch.missing;
        batch.requests += protocol::frame(requestText(firstId + index, graph));
    } else {
        batch.layouts[index] = withHeights(graph, layeredLayout(graph, stop));
        if (!stop.stop_requested()) cache.insert(hash, batch.layouts[index]);
    }
}

}  // namespace

LayoutBatch prepareBatch(std::vector<SmallGraph> graphs, qint64 firstId, LayoutCache& cache,
                         const std::stop_token& stop)
{
    LayoutBatch batch;
    batch.layouts.resize(graphs.size());
    batch.waiting.assign(graphs.size(), false);
    batch.twin.assign(graphs.size(), -1);
    batch.graphs = std::move(graphs);
    QHash<QByteArray, int> asked;
    for (std::size_t i = 0; i < batch.graphs.size() && !stop.stop_requested(); ++i) {
        if (auto trivial = trivialLayout(batch.graphs[i])) batch.layouts[i] = std::move(*trivial);
        else prepareOne(batch, static_cast<int>(i), firstId, asked, cache, stop);
    }
    return batch;
}

void finishBatch(LayoutBatch& batch, LayoutCache& cache, const std::stop_token& stop)
{
    for (std::size_t i = 0; i < batch.graphs.size() && !stop.stop_requested(); ++i) {
        if (!batch.waiting[i]) continue;
        batch.layouts[i] = withHeights(batch.graphs[i], layeredLayout(batch.graphs[i], stop));
        batch.waiting[i] = false;
        --batch.missing;
        if (!stop.stop_requested()) cache.insert(contentHash(batch.graphs[i]), batch.layouts[i]);
    }
}

void followTwins(LayoutBatch& batch)
{
    for (std::size_t i = 0; i < batch.twin.size(); ++i)
        if (batch.twin[i] >= 0) batch.layouts[i] = withHeights(batch.graphs[i], batch.layouts[batch.twin[i]]);
}

std::optional<SmallLayout> layoutFrom(const json::Value& answer)
{
    const json::Value* centres = answer.find("centres");
    const json::Value* size = answer.find("size");
    if (!centres || !size || !centres->isArray()) return std::nullopt;
    SmallLayout layout;
    for (const json::Value& item : *centres->asArray()) {
        const auto point = pointOf(item);
        if (!point) return std::nullopt;
        layout.centres.push_back(*point);
    }
    const auto extent = pointOf(*size);
    if (!extent) return std::nullopt;
    layout.size = {extent->x(), extent->y()};
    return layout;
}

}  // namespace hopscope::graphview
