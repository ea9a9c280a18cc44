#pragma once

// A scene as a file.

#include <QString>

#include "graphview/scene/colours.h"
#include "graphview/scene/scene.h"

namespace hopscope::graphview {

inline constexpr int maxPictureSide = 32'000;

// By the suffix svg, pdf or png; `width` in pixels for png, 0: twice the size at 100 %, neither side beyond
// maxPictureSide. Written to a temporary file first. Returns an empty string, or why not.
QString exportScene(const Scene& scene, const Colouring& colouring, const style::Theme& theme, const QString& file,
                    int width);

}  // namespace hopscope::graphview
