#pragma once

// Private to executor: determines the facts that a run with a journal records, so that other processes can resume it
// with bit-identical results.

#include <optional>
#include <string>
#include <vector>

#include "executor/journal.h"
#include "executor/loop/prologue.h"

namespace hopscope::executor {

// Returns the bytes of a batch, which are the same in every process with the same limit on this machine and a device of
// this model.
std::int64_t steadyBatchBytes(const std::optional<std::int64_t>& limit, const DeviceContext& device);

// Returns the cuts of all loops, by stage.
std::vector<plan::LoopCut> cutsOf(const StagePrograms& programs);

// Describes the resumption: "resumed: destinations that were already finished: 5,000 (chunks: 3)".
std::string sentenceOf(const ResumeReport& resumed);

}  // namespace hopscope::executor
