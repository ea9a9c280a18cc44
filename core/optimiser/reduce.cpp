#include "optimiser/reduce.h"

#include <numeric>

#include "optimiser/fuse.h"
#include "optimiser/graph.h"
#include "optimiser/never_stored.h"

namespace hopscope::optimiser {

namespace {

// Nodes that neither vanish nor decide for others: by node of the original.
std::vector<std::uint8_t> protectedNodes(const Instance& in, const std::vector<NodeId>& keep)
{
    std::vector<std::uint8_t> marked(in.nodes.size(), 0);
    for (const NodeId v : keep) marked[v.at()] = 1;
    for (const Edge& e : in.requiredReads) marked[e.from.at()] = marked[e.to.at()] = 1;
    for (const Pin& pin : in.pins) {
        marked[pin.node.at()] = 1;
        if (pin.consumer.valid()) marked[pin.consumer.at()] = 1;
    }
    const Graph g(in);
    for (std::size_t v = 0; v < in.nodes.size(); ++v) {
        const bool unused = in.nodes[v].kind != NodeKind::Input && g.lastUse(static_cast<int>(v)) == Graph::never;
        if (in.nodes[v].noRecompute || unused) marked[v] = 1;
    }
    return marked;
}

std::vector<std::uint8_t> through(const std::vector<std::uint8_t>& marked, const std::vector<int>& original)
{
    std::vector<std::uint8_t> result;
    for (const int v : original) result.push_back(marked[v]);
    return result;
}

}  // namespace

Reduced unreduced(const Instance& instance)
{
    Reduced same{.instance = instance, .image = std::vector<int>(instance.nodes.size()), .original = {}};
    std::iota(same.image.begin(), same.image.end(), 0);
    same.original = same.image;
    return same;
}

Reduced reduce(const Instance& instance, const std::vector<NodeId>& keep)
{
    constexpr int rounds = 4;
    Reduced now = unreduced(instance);
    const std::vector<std::uint8_t> marked = protectedNodes(instance, keep);
    for (int round = 0; round < rounds; ++round) {
        const std::size_t before = now.instance.nodes.size();
        const std::vector<std::uint8_t> kept = through(marked, now.original);
        markNeverStored(now.instance, kept);
        fuse(now, kept);
        if (now.instance.nodes.size() == before) break;
    }
    return now;
}

}  // namespace hopscope::optimiser
