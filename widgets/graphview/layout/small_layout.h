#pragma once

// Computes the positions of one small graph, from top to bottom. Sizes and coordinates are in pixels of an unscaled
// picture; y grows downwards.

#include <QByteArray>
#include <QPointF>
#include <QSizeF>
#include <cmath>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace hopscope::graphview {

struct SmallGraph {
    std::vector<QSizeF> sizes;
    std::vector<std::pair<int, int>> edges;  // acyclic, no duplicates
};

struct SmallLayout {
    std::vector<QPointF> centres;
    QSizeF size;
};

inline constexpr qreal nodeGap = 28, rankGap = 18;

// Rounds to a grid of 1/64 pixel, like the widths of texts. Sums and differences of such coordinates are exact, so
// moving a shape does not change it.
inline qreal onGrid(qreal value) { return std::round(value * 64) / 64; }

// Returns the cache key of a layout. Graphs that differ only in heights have equal keys.
QByteArray contentHash(const SmallGraph& graph);

// Adapts the layout of a graph that differs from this one only in heights: each row becomes as high as its highest
// node. This works because the layout assigns nodes to rows by widths and edges alone.
SmallLayout withHeights(const SmallGraph& graph, SmallLayout layout);

// Lays out a single node or a chain, which needs no algorithm; nullopt for other graphs.
std::optional<SmallLayout> trivialLayout(const SmallGraph& graph);

// Estimates whether `dot` is fast, from the number of nodes and the number of ranks that edges would pass through.
bool suitsDot(const SmallGraph& graph);

// Computes a layered layout in near-linear time: layers by longest path, ordered by the means of neighbours. Every edge
// points down, and no boxes overlap. Returns early after a stop; the result is useless then.
SmallLayout layeredLayout(const SmallGraph& graph, const std::stop_token& stop = {});

// Returns the layer of every node: 0 for sources, and one below the lowest predecessor for all others.
std::vector<int> longestPathLayers(const SmallGraph& graph);

}  // namespace hopscope::graphview
