#pragma once

// Private to graph: defines the building blocks of a round of label propagation.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "graph/node_order.h"

namespace hopscope::graph {

// The number of a node, mixed so that the order of labels does not depend on the numbering of the graph.
using Label = std::uint32_t;

inline Label mixed(std::uint32_t number)
{
    std::uint32_t x = (number ^ (number >> 16)) * 0x7feb352dU;
    x = (x ^ (x >> 15)) * 0x846ca68bU;
    return x ^ (x >> 16);
}

// Returns the node of a label.
inline std::uint32_t unmixed(Label label)
{
    std::uint32_t x = (label ^ (label >> 16)) * 0x43021123U;  // the factors are the inverses of those above
    x = (x ^ (x >> 15) ^ (x >> 30)) * 0x1d69e2a5U;
    return x ^ (x >> 16);
}

// The capacity of an Around. It is fixed, so that loops can be vectorised.
inline constexpr std::size_t mostSeen = 16;

// A node and the neighbours that vote on its label, or an evenly spaced sample of them if there are too many.
struct Around {
    std::array<std::uint32_t, mostSeen> seen;  // nodes or labels; after the first `count`, the node or its label
    std::size_t count = 1;
};

inline Around around(const Neighbours& graph, std::int64_t node, std::int64_t mostAsked = mostSeen - 1)
{
    const std::int64_t first = graph.offsets[node], degree = graph.degree(node), asked = std::min(degree, mostAsked);
    const std::int64_t step = asked ? degree / asked : 1;
    Around found;
    found.seen.fill(static_cast<std::uint32_t>(node));
    for (std::int64_t i = 0; i < asked; ++i)
        found.seen[static_cast<std::size_t>(i) + 1] = static_cast<std::uint32_t>(graph.column(first + i * step));
    found.count = static_cast<std::size_t>(asked) + 1;
    return found;
}

// Returns the smallest label among the nodes.
inline Label firstLabel(const Around& nodes)
{
    Label least = mixed(nodes.seen[0]);
    for (const std::uint32_t node : nodes.seen) least = std::min(least, mixed(node));
    return least;
}

// Returns the most frequent label, in case of a tie the smallest.
inline Label mostFrequent(const Around& labels)
{
    std::array<std::uint32_t, mostSeen> times{};
    for (std::size_t j = 0; j < labels.count; ++j)
        for (std::size_t i = 0; i < mostSeen; ++i) times[i] += labels.seen[i] == labels.seen[j] ? 1U : 0U;
    std::uint64_t best = 0;
    for (std::size_t i = 0; i < labels.count; ++i)
        best = std::max(best, std::uint64_t{times[i]} << 32 | static_cast<std::uint32_t>(~labels.seen[i]));
    return ~static_cast<std::uint32_t>(best);
}

}  // namespace hopscope::graph
