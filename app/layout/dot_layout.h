#pragma once

// Lays out one small directed graph with Graphviz's `dot`, from top to bottom. Sizes and coordinates are in points; y
// grows downwards.

#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hopscope::layout {

inline constexpr std::size_t maxNodes = 2000;
inline constexpr std::size_t maxEdges = 8000;

struct Point {
    double x = 0, y = 0;
};

struct Graph {
    std::vector<Point> sizes;                // width and height of every node
    std::vector<std::pair<int, int>> edges;  // from, to; indices into sizes
    std::vector<int> weights;                // by edge: how straight and short it should be, 1..1000; empty: all alike
    double nodeGap = 24, rankGap = 24;
};

struct Placement {
    std::vector<Point> centres;
    Point size;
};

// Lays out graphs with Graphviz, which is not thread-safe: use one instance per process, from one thread.
class DotLayout {
public:
    DotLayout();
    ~DotLayout();
    DotLayout(const DotLayout&) = delete;
    DotLayout& operator=(const DotLayout&) = delete;

    // Fails with Input for a graph beyond the limits, an edge to a node that does not exist or a size out of range, and
    // with Internal if dot fails.
    base::Result<Placement> run(const Graph& graph);

private:
    struct Context;
    std::unique_ptr<Context> m_context;
};

}  // namespace hopscope::layout
