#include "graphview/view/navigation.h"

#include <algorithm>
#include <cmath>

#include "graphview/fold/strong_components.h"

namespace hopscope::graphview {

namespace {

// The node in the nearest column; within a column, the nearest node.
int nearestColumn(const Scene& scene, int node, const std::vector<int>& candidates)
{
    const auto away = [&](int other) {
        const QPointF d = scene.nodes[other].center() - scene.nodes[node].center();
        return std::abs(d.x()) + 0.05 * std::abs(d.y());
    };
    const auto best =
        std::min_element(candidates.begin(), candidates.end(), [&](int a, int b) { return away(a) < away(b); });
    return best == candidates.end() ? -1 : *best;
}

std::vector<int> neighbours(const VisibleGraph& graph, int node, bool producers)
{
    std::vector<int> found;
    for (const VisibleEdge& edge : graph.edges) {
        if (producers && edge.to == node) found.push_back(edge.from);
        if (!producers && edge.from == node) found.push_back(edge.to);
    }
    // Stubs are followed as well, if there is nothing else.
    if (found.empty())
        for (const Stub& stub : graph.stubs) {
            if (producers && stub.node == node) found.push_back(stub.source);
            if (!producers && stub.source == node) found.push_back(stub.node);
        }
    return found;
}

int beside(const Scene& scene, int node, qreal sign)
{
    const QPointF at = scene.nodes[node].center();
    int best = -1;
    qreal nearest = 1e12;
    for (std::size_t i = 0; i < scene.nodes.size(); ++i) {
        const QPointF d = scene.nodes[i].center() - at;
        if (d.x() * sign <= 1 || std::abs(d.y()) > 90) continue;
        const qreal away = std::abs(d.x()) + 3 * std::abs(d.y());
        if (away < nearest) nearest = away, best = static_cast<int>(i);
    }
    return best;
}

void mark(int nodes, int start, const std::vector<std::pair<int, int>>& edges, std::vector<char>& marked)
{
    const Successors out(nodes, edges);
    std::vector<int> waiting{start};
    std::vector<char> seen(nodes);
    while (!waiting.empty()) {
        const int node = waiting.back();
        waiting.pop_back();
        if (std::exchange(seen[node], 1)) continue;
        marked[node] = 1;
        for (int at = out.begin[node]; at < out.begin[node + 1]; ++at) waiting.push_back(out.items[at]);
    }
}

}  // namespace

int walk(const Scene& scene, int node, Step step)
{
    if (node < 0) return scene.nodes.empty() ? -1 : 0;
    switch (step) {
    case Step::Up: return nearestColumn(scene, node, neighbours(*scene.graph, node, true));
    case Step::Down: return nearestColumn(scene, node, neighbours(*scene.graph, node, false));
    case Step::Left: return beside(scene, node, -1);
    case Step::Right: return beside(scene, node, 1);
    }
    return -1;
}

std::vector<char> cone(const VisibleGraph& graph, int node)
{
    if (node < 0) return {};
    const int nodes = static_cast<int>(graph.nodes.size());
    std::vector<std::pair<int, int>> down, up;
    for (const VisibleEdge& edge : graph.edges) down.emplace_back(edge.from, edge.to);
    for (const Stub& stub : graph.stubs) down.emplace_back(stub.source, stub.node);
    for (const auto& [from, to] : down) up.emplace_back(to, from);
    std::vector<char> marked(nodes);
    mark(nodes, node, down, marked);
    mark(nodes, node, up, marked);
    return marked;
}

}  // namespace hopscope::graphview
