#pragma once

// Computes the positions of the nodes of a small graph. Pure and deterministic.

#include <QPointF>
#include <vector>

#include "study/animation_frames.h"

namespace hopscope::study {

// A place within the unit square for each node: joined ones attract, all repel each other (Fruchterman and Reingold).
// Quadratic in the nodes.
std::vector<QPointF> placeNodes(const Animation& animation);

}  // namespace hopscope::study
