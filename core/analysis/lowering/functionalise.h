#pragma once

#include "base/result.h"
#include "ir/program.h"

namespace hopscope::analysis {

// Rewrites a raw program into SSA: variables are handles on immutable values; a write through a view is written back to
// its root through the inverse of the view, and stale views replay themselves on their next use; then identities
// (detach, contiguous, dropout in eval mode, ...) vanish. Refuses writes through views that have no inverse (expand,
// as_strided, diagonal). Ids are renumbered densely in order.
base::Result<ir::Program> functionalise(const ir::Program& raw);

}  // namespace hopscope::analysis
