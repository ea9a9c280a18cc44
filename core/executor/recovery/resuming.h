#pragma once

// Private to executor: determines the facts that a run with a journal records, so that other processes can resume it
// with bit-identical results.

#include <optional>
#include <string>
#include <vector>

#include "executor/journal.h"
#include "executor/loop/prologue.h"

namespace hopscope::executor {

// Returns the cuts of all loops, by stage.
std::vector<plan::LoopCut> cutsOf(const StagePrograms& programs);

// Describes the resumption: "resumed: destinations that were already finished: 5,000 (chunks: 3)".
std::string sentenceOf(const ResumeReport& resumed);

}  // namespace hopscope::executor
