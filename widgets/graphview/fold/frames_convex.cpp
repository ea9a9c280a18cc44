#include <algorithm>

#include "graphview/fold/fold_builder.h"
#include "graphview/fold/strong_components.h"

namespace hopscope::graphview {

namespace {

// By frame: how many are around it, itself included. Parents come before children.
std::vector<int> frameDepths(const VisibleGraph& graph)
{
    std::vector<int> depths;
    depths.reserve(graph.frames.size());
    for (const Frame& frame : graph.frames) depths.push_back(frame.parent < 0 ? 1 : depths[frame.parent] + 1);
    return depths;
}

// The edge between the two things that hold its ends in the innermost frame around both: nodes, or frames, numbered after
// the nodes.
std::pair<int, int> lift(const VisibleGraph& graph, const std::vector<int>& depths, const VisibleEdge& edge)
{
    struct End {
        int item, frame;
    };
    const int nodes = static_cast<int>(graph.nodes.size());
    const auto depth = [&](const End& end) { return end.frame < 0 ? 0 : depths[end.frame]; };
    const auto climb = [&](End& end) { end = {.item = nodes + end.frame, .frame = graph.frames[end.frame].parent}; };
    End from{.item = edge.from, .frame = graph.nodes[edge.from].frame};
    End to{.item = edge.to, .frame = graph.nodes[edge.to].frame};
    while (depth(from) > depth(to)) climb(from);
    while (depth(to) > depth(from)) climb(to);
    while (from.frame != to.frame) climb(from), climb(to);
    return {from.item, to.item};
}

// Frames on a loop of items of the same parent: items are of one parent only, so that all levels are seen at once.
std::vector<bool> loopedFrames(const VisibleGraph& graph)
{
    const int nodes = static_cast<int>(graph.nodes.size()), frames = static_cast<int>(graph.frames.size());
    const std::vector<int> depths = frameDepths(graph);
    std::vector<std::pair<int, int>> edges;
    edges.reserve(graph.edges.size());
    for (const VisibleEdge& edge : graph.edges) edges.push_back(lift(graph, depths, edge));
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
