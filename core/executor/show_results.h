#pragma once

// Private to executor: hands the results of an instruction to the probe of the run.

#include "executor/block.h"
#include "executor/loop_program.h"
#include "executor/session.h"

namespace hopscope::executor {

// Shows results of operators only; rows that are fetched have been seen where they were computed. There must be a
// probe.
void showResults(const Session& session, const LoopProgram& program, Block& block, const Instruction& instruction,
                 const std::vector<at::Tensor>& registers);

}  // namespace hopscope::executor
