#pragma once

// Writes a scene to a picture file.

#include <QString>

#include "graphview/scene/colours.h"
#include "graphview/scene/scene.h"

namespace hopscope::graphview {

inline constexpr int maxPictureSide = 32'000;

// Writes a scene in the format that the suffix svg, pdf or png decides. `width` is the width of a png in pixels; 0
// means twice the size at 100 %. Neither side exceeds maxPictureSide. Writes to a temporary file first. Returns an
// empty string, or the reason for a failure.
QString exportScene(const Scene& scene, const Colouring& colouring, const style::Theme& theme, const QString& file,
                    int width);

}  // namespace hopscope::graphview
