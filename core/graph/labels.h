#pragma once

// Private to graph: what rounds of label propagation are made of.

#include <algorithm>
#include <array>
#include <cstdint>

#include "graph/node_order.h"

namespace hopscope::graph {

// Of a node with more neighbours so many are asked, at equal distances.
inline constexpr std::int64_t mostAsked = 24;

// Mixes all bits: an order of the numbers that has nothing to do with how the graph is numbered.
inline std::uint32_t mixed(std::int32_t number)
{
    auto x = static_cast<std::uint32_t>(number);
    x = (x ^ (x >> 16)) * 0x7feb352dU;
    x = (x ^ (x >> 15)) * 0x846ca68bU;
    return x ^ (x >> 16);
}

// Calls visit(neighbour) for those of the node that are asked.
template <class Visit>
void eachAsked(const Neighbours& graph, std::int64_t node, std::int64_t most, Visit&& visit)
{
    const std::int64_t first = graph.offsets[node], degree = graph.degree(node), count = std::min(degree, most);
    const std::int64_t step = count ? degree / count : 1;
    for (std::int64_t i = 0; i < count; ++i) visit(graph.columns[first + i * step]);
}

// The node itself or the neighbour whose number has the smallest hash.
inline std::int32_t firstLabel(const Neighbours& graph, std::int64_t node, std::int64_t most)
{
    auto best = static_cast<std::int32_t>(node);
    std::uint32_t least = mixed(best);
    eachAsked(graph, node, most, [&](std::int32_t neighbour) {
        const std::uint32_t hash = mixed(neighbour);
        if (hash >= least) return;
        least = hash;
        best = neighbour;
    });
    return best;
}

// Counts the labels around one node after the other. Of those that occur most often, the one with the smallest hash wins.
class LabelCounts {
public:
    void begin() { ++m_round; }

    void add(std::int32_t label)
    {
        std::size_t at = (static_cast<std::uint32_t>(label) * 2654435761U) >> 25;
        while (m_slots[at].round == m_round && m_slots[at].label != label) at = (at + 1) % m_slots.size();
        Slot& slot = m_slots[at];
        if (slot.round != m_round) slot = {.round = m_round, .label = label, .count = 0};
        if (++slot.count < m_most || (slot.count == m_most && mixed(label) >= mixed(m_best))) return;
        m_most = slot.count;
        m_best = label;
    }

    // Of the labels added since begin(), of which there is at least one.
    std::int32_t take()
    {
        m_most = 0;
        return m_best;
    }

private:
    struct Slot {
        std::uint32_t round = 0;
        std::int32_t label = 0, count = 0;
    };
    static_assert(mostAsked < 64, "half of the slots stay free");
    std::array<Slot, 128> m_slots{};
    std::uint32_t m_round = 0;
    std::int32_t m_most = 0, m_best = 0;
};

}  // namespace hopscope::graph
