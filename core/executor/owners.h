#pragma once

// What each of several workers that share no folder (Ownership) will compute, keep and get of the others, before a run.

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "executor/executor.h"

namespace hopscope::executor {

// A part of the destinations of a loop.
struct OwnedRange {
    std::string nodes;  // their type
    std::int64_t first = 0, count = 0;
};

struct OwnedStage {
    plan::StageId index{1};
    std::vector<OwnedRange> ranges;  // of each loop
    std::int64_t destinations = 0, edges = 0;
    double share = 0;                              // of the work of the stage
    std::int64_t storedRows = 0, storedBytes = 0;  // that it computes
    std::int64_t haloRows = 0, haloBytes = 0;      // of the values of this stage, that it gets of others
    std::int64_t outputRows = 0, outputBytes = 0;  // of results, that it hands to who gathers them
};

// Of each worker, its stages: exactly what a run with a journal and these options does. Fails like run(), and with
// Unsupported for a plan that cannot be computed so. Linear in the edges of all loops.
base::Result<std::vector<std::vector<OwnedStage>>> shareOut(const std::shared_ptr<Structure>& structure,
                                                            const analysis::Analysis& analysis, const plan::Plan& plan,
                                                            const Options& options, int workers, std::stop_token stop);

}  // namespace hopscope::executor
