#pragma once

// A scene as a file.

#include <QString>

#include "graphview/scene/colours.h"
#include "graphview/scene/scene.h"

namespace hopscope::graphview {

inline constexpr int maxPictureSide = 32'000;

// The suffix svg, pdf or png decides the format. `width`: pixels of a png, 0: twice the size at 100 %; neither side exceeds
// maxPictureSide. Written to a temporary file first. Returns an empty string, or the reason of a failure.
QString exportScene(const Scene& scene, const Colouring& colouring, const style::Theme& theme, const QString& file,
                    int width);

}  // namespace hopscope::graphview
