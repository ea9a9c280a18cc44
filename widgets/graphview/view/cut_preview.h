#pragma once

// What dropping a checkpoint would give, in a few words.

#include <QString>

#include "protocol/plan.h"

namespace hopscope::graphview {

// "About 2.1 ms (−0.4 ms), moves 3.2 MiB (+1.1 MiB)", a second line with memory and stages; both against the plan of now.
QString previewText(const protocol::PlanRecord& now, const protocol::PlanRecord& then);

}  // namespace hopscope::graphview
