#include <algorithm>

#include "graphview/fold/fold_builder.h"
#include "graphview/fold/strong_components.h"

namespace hopscope::graphview {

namespace {

struct Lifted {
    int parent, from, to;  // items: nodes, then frames
};

std::vector<int> chainOf(const VisibleGraph& graph, int frame)
{
    std::vector<int> chain;
    for (; frame >= 0; frame = graph.frames[frame].parent) chain.push_back(frame);
    std::reverse(chain.begin(), chain.end());
    return chain;
}

// The edge between the two things that hold its ends in the innermost frame around both.
Lifted lift(const VisibleGraph& graph, const VisibleEdge& edge)
{
    const int nodes = static_cast<int>(graph.nodes.size());
    const auto from = chainOf(graph, graph.nodes[edge.from].frame), to = chainOf(graph, graph.nodes[edge.to].frame);
    std::size_t common = 0;
    while (common < from.size() && common < to.size() && from[common] == to[common]) ++common;
    return {.parent = common == 0 ? -1 : from[common - 1],
            .from = common < from.size() ? nodes + from[common] : edge.from,
            .to = common < to.size() ? nodes + to[common] : edge.to};
}

// Frames on a loop of items of the same parent: items are of one parent only, so that all levels are seen at once.
std::vector<bool> loopedFrames(const VisibleGraph& graph)
{
    const int nodes = static_cast<int>(graph.nodes.size()), frames = static_cast<int>(graph.frames.size());
    std::vector<std::pair<int, int>> edges;
    for (const VisibleEdge& edge : graph.edges) {
        const Lifted lifted = lift(graph, edge);
        edges.emplace_back(lifted.from, lifted.to);
    }
    const std::vector<int> components = strongComponents(nodes + frames, edges);
    std::vector<int> sizes(nodes + frames);
    for (int component : components) ++sizes[component];
    std::vector<bool> looped(frames);
    for (int frame = 0; frame < frames; ++frame) looped[frame] = sizes[components[nodes + frame]] > 1;
    return looped;
}

void removeFrames(VisibleGraph& graph, const std::vector<bool>& gone)
{
    std::vector<int> place(graph.frames.size());
    std::vector<Frame> kept;
    for (std::size_t i = 0; i < graph.frames.size(); ++i) {
        Frame frame = graph.frames[i];
        frame.parent = frame.parent < 0 ? -1 : place[frame.parent];
        place[i] = gone[i] ? frame.parent : static_cast<int>(kept.size());
        if (!gone[i]) kept.push_back(frame);
    }
    graph.frames = std::move(kept);
    for (VisibleNode& node : graph.nodes)
        if (node.frame >= 0) node.frame = place[node.frame];
}

}  // namespace

void dissolveFrames(VisibleGraph& graph)
{
    while (!graph.frames.empty()) {
        const std::vector<bool> looped = loopedFrames(graph);
        if (std::find(looped.begin(), looped.end(), true) == looped.end()) return;
        removeFrames(graph, looped);
    }
}

}  // namespace hopscope::graphview
