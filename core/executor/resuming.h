#pragma once

// Private to executor: the facts that a run with a journal records, so that other processes can resume it bit for bit.

#include <optional>
#include <string>
#include <vector>

#include "executor/journal.h"
#include "executor/prologue.h"

namespace hopscope::executor {

// Bytes of a batch that are the same in any process with the same limit, on this machine.
std::int64_t steadyBatchBytes(const std::optional<std::int64_t>& limit);

// The cuts of all loops, by stage.
std::vector<plan::LoopCut> cutsOf(const StagePrograms& programs);

// "resumed: 5,000 destinations in 3 chunks were already finished".
std::string sentenceOf(const ResumeReport& resumed);

}  // namespace hopscope::executor
