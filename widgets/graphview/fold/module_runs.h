#pragma once

// Runs of identical layers ("convs.1-62") as modules of their own.

#include "models/modules.h"

namespace hopscope::graphview {

// Large models alone; small ones show every layer. Linear.
models::ModuleTree withRuns(models::ModuleTree tree);

}  // namespace hopscope::graphview
