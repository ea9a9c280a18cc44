#include "graph/node_order.h"

#include <numeric>
#include <utility>

#include "base/clones.h"
#include "base/parallel.h"
#include "graph/labels.h"

namespace hopscope::graph {

namespace {

constexpr std::int64_t grain = 1 << 12;
// A round goes over the nodes in so many parts: what one has found, the next ones see, whatever the number of threads.
constexpr std::int64_t parts = 24;
constexpr int rounds = 2;

using Labels = std::vector<Label>;

// Of the nodes of a range. Both loops compute whole vectors, which some processors have wider.
HOPSCOPE_CLONES("arch=x86-64-v3")
void firstLabelsOf(const Neighbours& graph, Label* labels, std::int64_t begin, std::int64_t end)
{
    for (std::int64_t v = begin; v < end; ++v) labels[v] = firstLabel(around(graph, v));
}

HOPSCOPE_CLONES("arch=x86-64-v3")
void nextLabels(const Neighbours& graph, const Label* labels, Label* next, std::int64_t begin, std::int64_t end)
{
    for (std::int64_t v = begin; v < end; ++v) {
        Around about = around(graph, v);
        for (std::uint32_t& node : about.seen) node = labels[node];
        *next++ = mostFrequent(about);
    }
}

Labels firstLabels(const Neighbours& graph, int threads)
{
    Labels labels(static_cast<std::size_t>(graph.nodes));
    base::parallelParts(graph.nodes, threads, grain, [&](int, std::int64_t begin, std::int64_t end) {
        firstLabelsOf(graph, labels.data(), begin, end);
    });
    return labels;
}

// The most frequent label around each of these nodes.
void propagate(const Neighbours& graph, Labels& labels, Labels& next, std::int64_t first, std::int64_t last,
               int threads)
{
    base::parallelParts(last - first, threads, grain, [&](int, std::int64_t begin, std::int64_t end) {
        nextLabels(graph, labels.data(), next.data() + begin, first + begin, first + end);
    });
    std::copy_n(next.begin(), last - first, labels.begin() + first);
}

// Nodes by a small number that each has, those with the same one in their own order.
template <class KeyOf>
NodeOrder sortedBy(std::int64_t nodes, std::int64_t keys, KeyOf&& keyOf)
{
    std::vector<std::int64_t> starts(static_cast<std::size_t>(keys) + 1, 0);
    for (std::int64_t v = 0; v < nodes; ++v) ++starts[static_cast<std::size_t>(keyOf(v)) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    NodeOrder order(static_cast<std::size_t>(nodes));
    for (std::int64_t v = 0; v < nodes; ++v)
        order[static_cast<std::size_t>(starts[static_cast<std::size_t>(keyOf(v))]++)] = v;
    return order;
}

// ---- breadth first

class BreadthFirst {
public:
    explicit BreadthFirst(const Neighbours& graph) : m_graph(graph), m_seen(static_cast<std::size_t>(graph.nodes), 0) {}

    // The nodes that can be reached, level by level, those of a node by degree; what an earlier call has kept is left out.
    // Without `keep` they can be found again.
    const std::vector<std::int64_t>& from(std::int64_t start, bool keep)
    {
        m_queue.assign(1, start);
        m_lastLevel = 0;
        mark(start);
        for (std::size_t at = 0, end = 1; at < m_queue.size(); end = m_queue.size()) {
            m_lastLevel = at;
            for (; at < end; ++at) visit(m_queue[at]);
        }
        if (!keep)
            for (const std::int64_t v : m_queue) m_seen[static_cast<std::size_t>(v)] = 0;
        return m_queue;
    }

    [[nodiscard]] bool seen(std::int64_t node) const { return m_seen[static_cast<std::size_t>(node)] != 0; }
    // Of the last call: the node of the smallest degree among those that are farthest away.
    [[nodiscard]] std::int64_t farthest() const
    {
        return *std::min_element(
            m_queue.begin() + static_cast<std::ptrdiff_t>(m_lastLevel), m_queue.end(),
            [this](std::int64_t a, std::int64_t b) { return m_graph.degree(a) < m_graph.degree(b); });
    }

private:
    void mark(std::int64_t node) { m_seen[static_cast<std::size_t>(node)] = 1; }

    void visit(std::int64_t node)
    {
        const auto first = static_cast<std::ptrdiff_t>(m_queue.size());
        for (std::int64_t e = m_graph.offsets[node]; e < m_graph.offsets[node + 1]; ++e) {
            if (seen(m_graph.column(e))) continue;
            mark(m_graph.column(e));
            m_queue.push_back(m_graph.column(e));
        }
        std::sort(m_queue.begin() + first, m_queue.end(), [this](std::int64_t a, std::int64_t b) {
            return std::pair(m_graph.degree(a), a) < std::pair(m_graph.degree(b), b);
        });
    }

    const Neighbours& m_graph;
    std::vector<std::uint8_t> m_seen;
    std::vector<std::int64_t> m_queue;
    std::size_t m_lastLevel = 0;
};

}  // namespace

NodeOrder communityOrder(const Neighbours& graph, int threads)
{
    Labels labels = firstLabels(graph, threads);
    const std::int64_t part = std::max<std::int64_t>((graph.nodes + parts - 1) / parts, 1);
    Labels next(static_cast<std::size_t>(part));
    for (int round = 0; round < rounds; ++round)
        for (std::int64_t first = 0; first < graph.nodes; first += part)
            propagate(graph, labels, next, first, std::min(first + part, graph.nodes), threads);
    for (Label& label : labels) label = unmixed(label);
    return sortedBy(graph.nodes, graph.nodes, [&](std::int64_t v) { return labels[static_cast<std::size_t>(v)]; });
}

NodeOrder rcmOrder(const Neighbours& graph)
{
    NodeOrder order;
    order.reserve(static_cast<std::size_t>(graph.nodes));
    BreadthFirst search(graph);
    NodeOrder rising = degreeOrder(graph);
    std::reverse(rising.begin(), rising.end());
    for (const std::int64_t v : rising) {
        if (search.seen(v)) continue;
        if (graph.degree(v) > 0) search.from(v, false);
        const auto& found = search.from(graph.degree(v) > 0 ? search.farthest() : v, true);
        order.insert(order.end(), found.begin(), found.end());
        // Where edges have one direction only, the way back may not exist.
        if (!search.seen(v)) {
            const auto& rest = search.from(v, true);
            order.insert(order.end(), rest.begin(), rest.end());
        }
    }
    std::reverse(order.begin(), order.end());
    return order;
}

NodeOrder degreeOrder(const Neighbours& graph)
{
    std::int64_t most = 0;
    for (std::int64_t v = 0; v < graph.nodes; ++v) most = std::max(most, graph.degree(v));
    return sortedBy(graph.nodes, most + 1, [&](std::int64_t v) { return most - graph.degree(v); });
}

NodeOrder withFixedTail(NodeOrder order, std::int64_t count)
{
    const auto nodes = static_cast<std::int64_t>(order.size()), first = nodes - std::min(count, nodes);
    std::erase_if(order, [first](std::int64_t node) { return node >= first; });
    for (std::int64_t node = first; node < nodes; ++node) order.push_back(node);
    return order;
}

}  // namespace hopscope::graph
