#pragma once

// Positions of one small graph, top to bottom. Sizes and coordinates in pixels of an unscaled picture; y grows downwards.

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

// Rounds to a grid of 1/64 pixel, like the widths of texts: sums and differences of such coordinates are exact, so moving
// a shape does not change it.
inline qreal onGrid(qreal value) { return std::round(value * 64) / 64; }

// The cache key of a layout: graphs that differ only in heights have equal keys.
QByteArray contentHash(const SmallGraph& graph);

// Adapts the layout of a graph that differs from this one only in heights: each row becomes as high as its highest node.
// This works because the layout puts nodes into rows by widths and edges alone.
SmallLayout withHeights(const SmallGraph& graph, SmallLayout layout);

// One node, or a chain: needs no algorithm.
std::optional<SmallLayout> trivialLayout(const SmallGraph& graph);

// Estimates whether `dot` is fast, by the number of nodes and of ranks that edges would pass through.
bool suitsDot(const SmallGraph& graph);

// Longest-path layers, order by neighbours' means, near-linear. Every edge points down, no boxes overlap. After a stop the
// result is useless and returned early.
SmallLayout layeredLayout(const SmallGraph& graph, const std::stop_token& stop = {});

// The layer of every node: sources are 0, everything else one below its lowest predecessor.
std::vector<int> longestPathLayers(const SmallGraph& graph);

}  // namespace hopscope::graphview
