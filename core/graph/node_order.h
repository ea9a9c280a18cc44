#pragma once

// Orders of nodes, in which nodes with common sources lie close to each other, and estimates of their benefit.

#include <cstdint>
#include <vector>

namespace hopscope::graph {

// In-neighbours of each node: those of v are column(offsets[v]) to column(offsets[v + 1] - 1), in any order, with
// repetitions. Of any graph with fewer than 2^31 nodes; edges need not exist in both directions.
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

// A permutation: the node at each position.
using NodeOrder = std::vector<std::int64_t>;

// All three depend on the graph alone, not on the number of threads.

// Nodes of one community after each other. Communities by label propagation (Raghavan, Albert and Kumara, 2007), which
// starts from the neighbour with the smallest hash, so that three rounds suffice. Linear in the edges.
NodeOrder communityOrder(const Neighbours& graph, int threads);
// Reverse Cuthill-McKee (Cuthill and McKee, 1969; George and Liu, 1981): breadth first from the periphery of each component,
// neighbours by degree, backwards. For meshes. E log(degree), on one thread.
NodeOrder rcmOrder(const Neighbours& graph);
// Sorts the nodes by descending degree. Linear in the nodes.
NodeOrder degreeOrder(const Neighbours& graph);

// The nodes of the last `count` positions in their own order at the end, all others before them in their former order.
NodeOrder withFixedTail(NodeOrder order, std::int64_t count);

// Distinct rows that a tile of `rows` destinations reads, per destination: over all tiles, or over a few of them if the
// graph is large. `order` may be null, which means the order of the input. About 70,000 edges are sampled.
double rowsPerDestination(const Neighbours& graph, const std::int64_t* order, std::int64_t rows);

// The share of the edges whose ends label propagation puts into the same community of at most `rows` nodes, by its
// first rounds on a few edges and their surroundings; constant time.
double sampledTogether(const Neighbours& graph, std::int64_t rows, int threads);

}  // namespace hopscope::graph
