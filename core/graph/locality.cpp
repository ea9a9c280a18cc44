// Estimates the benefit of an order of the nodes on samples.

#include <array>
#include <map>
#include <random>
#include <utility>

#include "base/parallel.h"
#include "graph/labels.h"

namespace hopscope::graph {

namespace {

constexpr std::int64_t mostEdges = 1 << 16;
constexpr int triedEdges = 128;
constexpr std::int64_t leastTried = 8;  // by a thread
constexpr int rounds = 2;
constexpr std::int64_t tried = 10;  // neighbours of each node: bounds the work around an edge

// Labels after some rounds, computed on demand. In each round, all nodes see the others' labels from before it.
class LazyLabels {
public:
    explicit LazyLabels(const Neighbours& graph) : m_graph(graph) {}

    Label of(std::int64_t node, int round)
    {
        if (round == 0) return firstLabel(around(m_graph, node, tried));
        const auto [it, fresh] = m_known.try_emplace({node, round}, 0);
        if (fresh) it->second = counted(node, round);
        return it->second;
    }

private:
    Label counted(std::int64_t node, int round)
    {
        Around about = around(m_graph, node, tried);
        for (std::size_t i = 0; i < about.count; ++i) about.seen[i] = of(about.seen[i], round - 1);
        return mostFrequent(about);
    }

    const Neighbours& m_graph;
    std::map<std::pair<std::int64_t, int>, Label> m_known;
};

std::int64_t ownerOf(const Neighbours& graph, std::int64_t edge)
{
    return std::upper_bound(graph.offsets, graph.offsets + graph.nodes + 1, edge) - graph.offsets - 1;
}

// The labels at both ends of the tried edges.
std::array<std::pair<Label, Label>, triedEdges> sampledEnds(const Neighbours& graph, int threads)
{
    std::mt19937_64 random(1);
    std::array<std::int64_t, triedEdges> edges;
    for (std::int64_t& edge : edges)
        edge = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(graph.edges()));
    std::array<std::pair<Label, Label>, triedEdges> ends;
    base::parallelParts(triedEdges, threads, leastTried, [&](int, std::int64_t begin, std::int64_t end) {
        LazyLabels labels(graph);
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
            ends[i] = {labels.of(ownerOf(graph, edges[i]), rounds), labels.of(graph.column(edges[i]), rounds)};
    });
    return ends;
}

}  // namespace

double rowsPerDestination(const Neighbours& graph, const std::int64_t* order, std::int64_t rows)
{
    if (graph.nodes == 0) return 0;
    const std::int64_t tiles = (graph.nodes + rows - 1) / rows;
    const std::int64_t wanted = std::max<std::int64_t>(mostEdges * tiles / std::max<std::int64_t>(graph.edges(), 1), 1);
    const std::int64_t step = std::max<std::int64_t>(tiles / wanted, 1);
    std::vector<std::int64_t> seen(static_cast<std::size_t>(graph.nodes), -1);
    std::int64_t distinct = 0, destinations = 0;
    for (std::int64_t tile = step / 2; tile < tiles; tile += step)
        for (std::int64_t place = tile * rows; place < std::min((tile + 1) * rows, graph.nodes);
             ++place, ++destinations) {
            const std::int64_t node = order ? order[place] : place;
            for (std::int64_t e = graph.offsets[node]; e < graph.offsets[node + 1]; ++e)
                if (std::exchange(seen[static_cast<std::size_t>(graph.column(e))], tile) != tile) ++distinct;
        }
    return static_cast<double>(distinct) / static_cast<double>(std::max<std::int64_t>(destinations, 1));
}

double sampledTogether(const Neighbours& graph, std::int64_t rows, int threads)
{
    if (graph.edges() == 0) return 0;
    std::map<Label, int> sizes, together;
    for (const auto& [a, b] : sampledEnds(graph, threads)) {
        ++sizes[a];
        ++sizes[b];
        if (a == b) ++together[a];
    }
    // A label that occurs more often than chance explains in so few edges is that of a community that is too large.
    const double expected = 2.0 * triedEdges * static_cast<double>(rows) / static_cast<double>(graph.nodes);
    int count = 0;
    for (const auto& [label, edges] : together)
        if (sizes[label] <= 4 + 2 * expected) count += edges;
    return static_cast<double>(count) / triedEdges;
}

}  // namespace hopscope::graph
