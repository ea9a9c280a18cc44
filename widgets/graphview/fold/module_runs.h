#pragma once

// Runs of identical layers ("convs.1-62") as modules of their own.

#include "models/modules.h"

namespace hopscope::graphview {

inline constexpr int longestRow = 12;  // a single box says more than a longer row of equal ones

// Groups runs of at least four layers in large models, and of more than longestRow in small ones. Linear.
models::ModuleTree withRuns(models::ModuleTree tree);

}  // namespace hopscope::graphview
