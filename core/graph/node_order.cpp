#include "graph/node_order.h"

#include <atomic>
#include <thread>
#include <utility>

#include "base/clones.h"
#include "base/parallel.h"
#include "graph/labels.h"

namespace hopscope::graph {

namespace {

constexpr std::int64_t grain = 1 << 12;
constexpr std::int64_t leastShare = 1 << 9;  // of a part, for a thread: some 15 us
// A round goes over the nodes in this many parts. Each part sees the labels found by those before it, whatever the
// number of threads.
constexpr std::int64_t parts = 24;
constexpr int rounds = 3;

using Labels = std::vector<Label>;

// The first labels of a range of nodes. Both loops compute whole vectors, which are wider on some processors.
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

// Where threads wait for each other. The rest of a step takes less than waking a thread up, so they stay awake, and let others
// go first when it takes longer.
class MeetingPoint {
public:
    explicit MeetingPoint(std::int64_t members) : m_members(members) {}

    void meet()
    {
        const std::int64_t before = m_meetings.load(std::memory_order_acquire);
        if (m_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == m_members) {
            m_arrived.store(0, std::memory_order_relaxed);
            m_meetings.store(before + 1, std::memory_order_release);
            return;
        }
        for (int looked = 0; m_meetings.load(std::memory_order_acquire) == before; ++looked)
            if (looked > mostLooks) std::this_thread::yield();
    }

private:
    static constexpr int mostLooks = 1 << 12;

    std::int64_t m_members;
    std::atomic<std::int64_t> m_arrived = 0, m_meetings = 0;
};

// Rounds of label propagation on threads that are started once: a part of the nodes takes them a fraction of a
// millisecond.
class Propagation {
public:
    Propagation(const Neighbours& graph, int threads)
        : m_graph(graph),
          m_part(std::max<std::int64_t>((graph.nodes + parts - 1) / parts, 1)),
          m_members(std::clamp<std::int64_t>(m_part / leastShare, 1, std::max(threads, 1))),
          m_together(m_members),
          m_labels(static_cast<std::size_t>(graph.nodes)),
          m_next(static_cast<std::size_t>(m_part))
    {}

    Labels labels()
    {
        base::parallelParts(m_members, static_cast<int>(m_members), 1,
                            [this](int member, std::int64_t, std::int64_t) { work(member); });
        return std::move(m_labels);
    }

private:
    // The work of one member; all take the same steps.
    void work(int member)
    {
        const auto [begin, end] = share(member, m_graph.nodes);
        firstLabelsOf(m_graph, m_labels.data(), begin, end);
        m_together.meet();
        for (int round = 0; round < rounds; ++round)
            for (std::int64_t first = 0; first < m_graph.nodes; first += m_part)
                propagate(member, first, std::min(m_part, m_graph.nodes - first));
    }

    // The most frequent label around each node of a part.
    void propagate(int member, std::int64_t first, std::int64_t count)
    {
        const auto [begin, end] = share(member, count);
        nextLabels(m_graph, m_labels.data(), m_next.data() + begin, first + begin, first + end);
        m_together.meet();
        std::copy(m_next.begin() + begin, m_next.begin() + end, m_labels.begin() + first + begin);
        m_together.meet();
    }

    [[nodiscard]] std::pair<std::int64_t, std::int64_t> share(int member, std::int64_t count) const
    {
        return {count * member / m_members, count * (member + 1) / m_members};
    }

    const Neighbours& m_graph;
    std::int64_t m_part, m_members;
    MeetingPoint m_together;
    Labels m_labels, m_next;
};

// A stable sort of the nodes by a small key: every thread counts the keys of its nodes and derives their places from
// the counts.
template <class KeyOf>
NodeOrder sortedBy(std::int64_t nodes, std::int64_t keys, int threads, KeyOf&& keyOf)
{
    const std::int64_t worthwhile = nodes / std::max<std::int64_t>(keys, 1);
    const auto members = static_cast<int>(std::clamp<std::int64_t>(worthwhile, 1, std::max(threads, 1)));
    std::vector<std::vector<std::int64_t>> places(static_cast<std::size_t>(members));
    const auto eachNode = [&](auto&& work) {
        base::parallelParts(nodes, members, 1, [&](int member, std::int64_t begin, std::int64_t end) {
            auto& own = places[static_cast<std::size_t>(member)];
            own.resize(static_cast<std::size_t>(keys), 0);
            for (std::int64_t v = begin; v < end; ++v) work(v, own[static_cast<std::size_t>(keyOf(v))]);
        });
    };
    eachNode([](std::int64_t, std::int64_t& count) { ++count; });
    std::int64_t next = 0;
    for (std::size_t key = 0; key < static_cast<std::size_t>(keys); ++key)
        for (auto& own : places)
            if (key < own.size()) next += std::exchange(own[key], next);
    NodeOrder order(static_cast<std::size_t>(nodes));
    eachNode([&](std::int64_t v, std::int64_t& place) { order[static_cast<std::size_t>(place++)] = v; });
    return order;
}

// Replaces each label by the rank of its node among all nodes that serve as labels. Returns the number of labels.
std::int64_t numberLabels(Labels& labels, int threads)
{
    const auto nodes = static_cast<std::int64_t>(labels.size());
    std::vector<std::uint8_t> used(labels.size(), 0);
    base::parallelParts(nodes, threads, grain, [&](int, std::int64_t begin, std::int64_t end) {
        for (std::int64_t v = begin; v < end; ++v) {
            Label& label = labels[static_cast<std::size_t>(v)];
            label = unmixed(label);
            std::atomic_ref(used[label]).store(1, std::memory_order_relaxed);
        }
    });
    Labels numbers(labels.size());
    Label count = 0;
    for (std::size_t v = 0; v < used.size(); ++v) numbers[v] = std::exchange(count, count + used[v]);
    base::parallelParts(nodes, threads, grain, [&](int, std::int64_t begin, std::int64_t end) {
        for (std::int64_t v = begin; v < end; ++v) {
            Label& label = labels[static_cast<std::size_t>(v)];
            label = numbers[label];
        }
    });
    return count;
}

// ---- breadth first

class BreadthFirst {
public:
    explicit BreadthFirst(const Neighbours& graph) : m_graph(graph), m_seen(static_cast<std::size_t>(graph.nodes), 0) {}

    // The reachable nodes, level by level, the neighbours of a node by degree, without those that an earlier call has
    // kept. Without `keep` they can be found again.
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
    // The node of the smallest degree among those that the last call found farthest away.
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
    Labels labels = Propagation(graph, threads).labels();
    const std::int64_t communities = numberLabels(labels, threads);
    return sortedBy(graph.nodes, communities, threads,
                    [&](std::int64_t v) { return labels[static_cast<std::size_t>(v)]; });
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
        // Where edges have one direction only, the start may not be reachable from the farthest node.
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
    return sortedBy(graph.nodes, most + 1, 1, [&](std::int64_t v) { return most - graph.degree(v); });
}

NodeOrder withFixedTail(NodeOrder order, std::int64_t count)
{
    const auto nodes = static_cast<std::int64_t>(order.size()), first = nodes - std::min(count, nodes);
    std::erase_if(order, [first](std::int64_t node) { return node >= first; });
    for (std::int64_t node = first; node < nodes; ++node) order.push_back(node);
    return order;
}

}  // namespace hopscope::graph
