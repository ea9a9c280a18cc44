#pragma once

// Walks through a visible graph. The functions are pure.

#include <vector>

#include "graphview/scene/scene.h"

namespace hopscope::graphview {

enum class Step { Up, Down, Left, Right };

// Returns a producer (Up) or a consumer (Down) of a node, or the nearest node next to it (Left, Right); of several, the
// one with the nearest column. Returns -1 if there is none.
int walk(const Scene& scene, int node, Step step);

// Returns, for each node, whether it is `node` or an ancestor or descendant of it. Empty for -1.
std::vector<char> cone(const VisibleGraph& graph, int node);

}  // namespace hopscope::graphview
