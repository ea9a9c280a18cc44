#pragma once

// Computes orders of nodes by communities, breadth-first search and degree, and estimates the benefit of an order.

#include <cstdint>
#include <vector>

namespace hopscope::graph {

// The in-neighbours of each node: those of v are column(offsets[v]) to column(offsets[v + 1] - 1), in any order and
// with repetitions. The graph has fewer than 2^31 nodes and may be directed.
struct Neighbours {
    const std::int64_t* offsets = nullptr;  // nodes + 1
    const std::int32_t* columns = nullptr;
    std::int64_t nodes = 0;
    const std::int64_t* wideColumns = nullptr;  // instead of `columns`

    [[nodiscard]] std::int32_t column(std::int64_t edge) const
    {
        return wideColumns ? static_cast<std::int32_t>(wideColumns[edge]) : columns[edge];
    }
    [[nodiscard]] std::int64_t degree(std::int64_t node) const { return offsets[node + 1] - offsets[node]; }
    [[nodiscard]] std::int64_t edges() const { return nodes ? offsets[nodes] : 0; }
};

// A permutation that lists the node at each position.
using NodeOrder = std::vector<std::int64_t>;

// The following three orders depend on the graph alone, not on the number of threads.

// Groups the nodes by community. Communities are found by label propagation (Raghavan, Albert and Kumara, 2007). Each
// node starts with the smallest label around it, so that three rounds suffice. Of many neighbours, a node asks 15.
// Linear in the nodes.
NodeOrder communityOrder(const Neighbours& graph, int threads);
// Returns the reverse Cuthill-McKee order (Cuthill and McKee, 1969; George and Liu, 1981), which suits meshes: breadth
// first from the periphery of each component, neighbours by degree, reversed. O(N + E log(degree)) for N nodes and E
// edges, on one thread.
NodeOrder rcmOrder(const Neighbours& graph);
// Sorts the nodes by descending degree. Linear in the nodes and the highest degree.
NodeOrder degreeOrder(const Neighbours& graph);

// Moves the `count` nodes with the highest numbers to the end, in ascending order. The others keep their relative
// order.
NodeOrder withFixedTail(NodeOrder order, std::int64_t count);

// Returns the number of distinct rows that a tile of `rows` destinations reads, per destination: over all tiles or, in
// a large graph, over a sample of tiles. `order` is null for the order of the input.
double rowsPerDestination(const Neighbours& graph, const std::int64_t* order, std::int64_t rows);

// Estimates the share of edges between nodes that label propagation puts into the same community of at most `rows`
// nodes, from its first rounds around a few edges.
double sampledTogether(const Neighbours& graph, std::int64_t rows, int threads);

}  // namespace hopscope::graph
