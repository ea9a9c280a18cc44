#pragma once

// Private to executor: the prologue, which is computed once for the whole graph before the first stage.

#include <unordered_set>
#include <vector>

#include "executor/loop_program.h"
#include "executor/residents.h"
#include "executor/structure.h"
#include "executor/tiles.h"

namespace hopscope::executor {

using StagePrograms = std::vector<std::vector<LoopProgram>>;  // loops by stage

// Compiles the plan's loops for a device. Tables with a suitable memory layout are read in place. Linear in the plan.
// `tiling`: for a CPU, whose loops run in tiles where they can.
StagePrograms compileStages(const analysis::Analysis& analysis, const plan::Plan& plan, const ResidentChoice& choice,
                            Structure& structure, const std::optional<TilingRequest>& tiling);

// The values of the prologue that loops, operators without rows, and outputs use as a whole.
std::unordered_set<ir::ValueId> prologueValues(const analysis::Analysis& analysis, const StagePrograms& programs);
// The values that loops use in the order of an adjacency.
std::unordered_set<ir::ValueId> orderedValues(const StagePrograms& programs);

// Evaluates these values, large ones in files in `folder`, checks the guards, and builds the adjacencies and key
// columns that blocks need. Linear in the graph. Throws Failure.
void makePrologue(Structure& structure, const analysis::Analysis& analysis, const StagePrograms& programs,
                  const std::string& folder);

}  // namespace hopscope::executor
