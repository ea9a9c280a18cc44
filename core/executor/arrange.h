#pragma once

// Private to executor: in which order a run computes the nodes of each type (Options::reorder).
//
// Destinations that follow each other share a tile. If they ask for the same rows, these come from the core's caches
// instead of memory. Stores between stages lie in that order, too (Session::numbers). The edges of each destination stay in
// the order of the input, so that sums come out the same; inputs stay where they are, and results are put back.

#include "executor/prologue.h"
#include "executor/session.h"

namespace hopscope::executor {

// Chooses and makes the orders, and reports them. Before the prologue, which would be in another order. What `Auto` does
// depends on the graph, the plan and the number of threads alone, and it leaves everything as it is where results could
// differ in their last bits. On a GPU nothing is arranged.
void arrangeNodes(Session& session, const StagePrograms& programs);

}  // namespace hopscope::executor
