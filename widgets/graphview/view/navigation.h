#pragma once

// Walking in a visible graph. Pure functions.

#include <vector>

#include "graphview/scene/scene.h"

namespace hopscope::graphview {

enum class Step { Up, Down, Left, Right };

// From a node to a producer (Up), a consumer (Down) or the nearest node next to it (Left, Right); among several, the one
// whose column is nearest. -1: there is none.
int walk(const Scene& scene, int node, Step step);

// For each node, whether it is `node`, or an ancestor or a descendant of it. Empty for -1.
std::vector<char> cone(const VisibleGraph& graph, int node);

}  // namespace hopscope::graphview
