#pragma once

#include "base/result.h"
#include "ir/program.h"

namespace hopscope::analysis {

// Rewrites a raw program into SSA form. Variables become handles on immutable values. A write through a view is written
// back to its root through the inverse of the view, and stale views are replayed on their next use. Identities (detach,
// contiguous, dropout in eval mode, ...) are then removed, and ids are renumbered densely in order. Refuses writes
// through views that have no inverse (expand, as_strided, diagonal).
base::Result<ir::Program> functionalise(const ir::Program& raw);

}  // namespace hopscope::analysis
