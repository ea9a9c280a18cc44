#pragma once

// Finds drawing faults in a picture. It is a pure function of the laid-out scene, for tests.

#include <QStringList>

#include "graphview/scene/colours.h"
#include "graphview/scene/scene.h"

namespace hopscope::graphview {

// Returns one sentence for every fault: boxes that overlap, text wider than its box, edges that do not point down,
// nodes outside their stage's band, text that is hard to read on its colour (contrast below 4.5), anything out of
// bounds. Empty if there is none. Takes near-linear time.
QStringList checkGeometry(const Scene& scene, const Colouring& colouring, const style::Theme& theme);

}  // namespace hopscope::graphview
