#pragma once

// Private to executor: the order in which a run computes the nodes of each type (Options::reorder).
//
// Destinations that follow each other share a tile. If they read the same rows, these come from the core's caches
// instead of memory. Stores between stages also lie in that order (Session::numbers). The edges of each destination
// stay in the order of the input, so that sums come out the same; inputs stay where they are, and results are put back.

#include "executor/prologue.h"
#include "executor/session.h"

namespace hopscope::executor {

// Chooses and computes the orders, and reports them. To be called before the prologue, whose values follow the orders.
// The choice of `Auto` depends only on the graph, the plan and the number of threads, and changes nothing if results
// could differ in their last bits. On a GPU nothing is reordered.
void arrangeNodes(Session& session, const StagePrograms& programs);

}  // namespace hopscope::executor
