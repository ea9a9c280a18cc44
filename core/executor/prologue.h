#pragma once

// Private to executor: what is made once, for the whole graph, before the first stage.

#include <unordered_set>
#include <vector>

#include "executor/loop_program.h"
#include "executor/residents.h"
#include "executor/structure.h"

namespace hopscope::executor {

using StagePrograms = std::vector<std::vector<LoopProgram>>;  // loops by stage

// The plan's loops for a device; rows that lie as kernels want them are read in place. Linear in the plan.
StagePrograms compileStages(const analysis::Analysis& analysis, const plan::Plan& plan, const ResidentChoice& choice,
                            Structure& structure, bool gpu);

// The values that the loops, rowless operators and results take from it.
std::unordered_set<ir::ValueId> prologueValues(const analysis::Analysis& analysis, const StagePrograms& programs);

// Evaluates them, large ones in files of `folder`, checks the guards, and makes what blocks are cut from. Linear in the
// graph; throws Failure.
void makePrologue(Structure& structure, const analysis::Analysis& analysis, const StagePrograms& programs,
                  const std::string& folder);

}  // namespace hopscope::executor
