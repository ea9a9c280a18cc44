#pragma once

// Computes strongly connected components (Tarjan's algorithm without recursion) and a topological order of directed
// graphs.

#include <utility>
#include <vector>

namespace hopscope::graphview {

// Returns the component of every node; components are numbered from 0 in reverse topological order. Takes linear time.
std::vector<int> strongComponents(int nodes, const std::vector<std::pair<int, int>>& edges);

// The outgoing edges of each node in one array: the targets of node n are items[begin[n]..begin[n+1]), in the order of
// `edges`.
struct Successors {
    std::vector<int> begin, items;
    Successors(int nodes, const std::vector<std::pair<int, int>>& edges);
};

// Requires an acyclic graph; breaks ties by index. Takes linear time.
std::vector<int> topologicalOrder(const Successors& out);

}  // namespace hopscope::graphview
