#pragma once

// Draws a scene seen from far away: boxes and lines are set pixel by pixel, because a painter is too slow for 50,000 of
// them.

#include <QImage>
#include <vector>

#include "graphview/scene/camera.h"
#include "graphview/scene/colours.h"
#include "graphview/scene/scene.h"

namespace hopscope::graphview {

// If more nodes than this are in sight, they are not drawn one by one.
inline constexpr int maxDetailedNodes = 500;

// Draws the visible part of the scene over the image. Nodes with a set flag in `marked`, which may be empty, are drawn
// in the accent colour.
void drawFromAfar(QImage& image, const Scene& scene, const Colouring& colouring, const style::Theme& theme,
                  const Camera& camera, const std::vector<char>& marked);

}  // namespace hopscope::graphview
