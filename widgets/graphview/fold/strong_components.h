#pragma once

// Orders of directed graphs: strongly connected components (Tarjan, without recursion) and topological order.

#include <utility>
#include <vector>

namespace hopscope::graphview {

// The component of every node; components are numbered from 0 in reverse topological order. Linear.
std::vector<int> strongComponents(int nodes, const std::vector<std::pair<int, int>>& edges);

// Outgoing edges by node in one array: targets of node n are items[begin[n]..begin[n+1]), in order of `edges`.
struct Successors {
    std::vector<int> begin, items;
    Successors(int nodes, const std::vector<std::pair<int, int>>& edges);
};

// Requires an acyclic graph; breaks ties by index. Takes linear time.
std::vector<int> topologicalOrder(const Successors& out);

}  // namespace hopscope::graphview
