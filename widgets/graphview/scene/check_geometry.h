#pragma once

// Finds drawing faults in a picture. A pure function of the laid-out scene, for tests.

#include <QStringList>

#include "graphview/scene/colours.h"
#include "graphview/scene/scene.h"

namespace hopscope::graphview {

// One sentence for every fault: boxes that overlap, text wider than its box, edges that do not point down, nodes outside of
// their stage's band, text that is hard to read on its colour (contrast below 4.5), anything outside of the bounds. Empty:
// nothing is wrong. Near-linear.
QStringList checkGeometry(const Scene& scene, const Colouring& colouring, const style::Theme& theme);

}  // namespace hopscope::graphview
