#pragma once

// Private to executor: determines the order in which a run computes the nodes of each type (Options::reorder).
//
// Consecutive destinations share a tile. If they read the same rows, these come from the core's caches instead of
// memory. Stores between stages also have that order (Session::numbers). The edges of each destination remain in the
// order of the input, so that sums do not change; inputs are not moved, and results are returned to the order of the
// input.

#include "executor/loop/prologue.h"
#include "executor/session/session.h"

namespace hopscope::executor {

// Chooses, computes and reports the orders. Call it before the prologue, whose values are arranged by them. The choice
// of `Auto` depends only on the graph, the plan and the number of threads, and changes nothing if results could differ
// in their last bits. On a GPU with a journal, and on several GPUs, nothing is reordered.
void arrangeNodes(Session& session, const StagePrograms& programs);

}  // namespace hopscope::executor
