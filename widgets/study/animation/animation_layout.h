#pragma once

// Computes the positions of the nodes of a small graph. The functions are pure and deterministic.

#include <QPointF>
#include <vector>

#include "study/animation/animation_frames.h"

namespace hopscope::study {

// Returns a position within the unit square for each node: connected nodes attract, and all nodes repel each other
// (Fruchterman and Reingold). Takes time quadratic in the nodes.
std::vector<QPointF> placeNodes(const Animation& animation);

}  // namespace hopscope::study
