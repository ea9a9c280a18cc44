#pragma once

// Summarises the effect of dropping a stored value.

#include <QString>

#include "protocol/plan.h"

namespace hopscope::graphview {

// Returns "About 2.1 ms (−0.4 ms), moves 3.2 MiB (+1.1 MiB)", then memory and stages; differences are from the current
// plan.
QString previewText(const protocol::PlanRecord& now, const protocol::PlanRecord& then);

}  // namespace hopscope::graphview
