#pragma once

// Groups runs of identical layers ("convs.1-62") into modules of their own.

#include "models/modules.h"

namespace hopscope::graphview {

inline constexpr int longestRow = 12;  // a single box says more than a longer row of equal ones

// Groups runs of at least four layers in large models, and of more than longestRow layers in small ones. Takes linear
// time.
models::ModuleTree withRuns(models::ModuleTree tree);

}  // namespace hopscope::graphview
