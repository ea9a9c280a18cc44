#pragma once

// Private to executor: computes the prologue, once for the whole graph, before the first stage.

#include <unordered_set>
#include <vector>

#include "executor/loop/tiles.h"
#include "executor/program/loop_program.h"
#include "executor/session/residents.h"
#include "executor/structure.h"

namespace hopscope::executor {

using StagePrograms = std::vector<std::vector<LoopProgram>>;  // loops by stage

// Compiles the plan's loops for a device. Tables with a suitable memory layout are read in place. Linear in the plan.
// `tiling` is for a CPU, on which loops run in tiles if possible; `store` is the type of stores.
StagePrograms compileStages(const analysis::Analysis& analysis, const plan::Plan& plan, const ResidentChoice& choice,
                            Structure& structure, const Families& families, const std::optional<TilingRequest>& tiling,
                            base::StoreType store = base::StoreType::Exact);

// Returns the values of the prologue that loops, operators without rows, and outputs use as a whole.
std::unordered_set<ir::ValueId> prologueValues(const analysis::Analysis& analysis, const StagePrograms& programs);
// Returns the values that loops use in the order of an adjacency.
std::unordered_set<ir::ValueId> orderedValues(const StagePrograms& programs);

// Evaluates the values of the prologue (large ones in files in `folder`), checks the guards, and builds the adjacencies
// and key columns that blocks need. Linear in the graph. Throws Failure.
void makePrologue(Structure& structure, const analysis::Analysis& analysis, const StagePrograms& programs,
                  const std::string& folder);

}  // namespace hopscope::executor
