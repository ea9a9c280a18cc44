#pragma once

// Private to executor: what a run with a journal notes about itself, so that other processes go on with the same bits.

#include <optional>
#include <string>
#include <vector>

#include "executor/journal.h"
#include "executor/prologue.h"

namespace hopscope::executor {

// Bytes of a batch that are the same in any process with the same limit, on this machine.
std::int64_t steadyBatchBytes(const std::optional<std::int64_t>& limit);

// Of all loops, by stage.
std::vector<plan::LoopCut> cutsOf(const StagePrograms& programs);

// "resumed: 5,000 destinations in 3 chunks were finished before".
std::string sentenceOf(const ResumeReport& resumed);

}  // namespace hopscope::executor
