#pragma once

// A scene seen from far away: boxes and lines set pixel by pixel, because a painter is too slow for 50,000 of them.

#include <QImage>
#include <vector>

#include "graphview/scene/camera.h"
#include "graphview/scene/colours.h"
#include "graphview/scene/scene.h"

namespace hopscope::graphview {

// More nodes than this in sight are not drawn one by one.
inline constexpr int maxDetailedNodes = 500;

// Draws the part that the camera sees over the image. `marked`: by node, drawn in the accent colour; may be empty.
void drawFromAfar(QImage& image, const Scene& scene, const Colouring& colouring, const style::Theme& theme,
                  const Camera& camera, const std::vector<char>& marked);

}  // namespace hopscope::graphview
