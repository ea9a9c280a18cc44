#pragma once

// Private to executor: passes the results of an instruction to the probe of the run.

#include "executor/program/loop_program.h"
#include "executor/rows/block.h"
#include "executor/session/session.h"

namespace hopscope::executor {

// Passes only results of operators, because rows that are read were shown when they were computed. Requires a probe.
void showResults(const Session& session, const LoopProgram& program, Block& block, const Instruction& instruction,
                 const std::vector<at::Tensor>& registers);

}  // namespace hopscope::executor
