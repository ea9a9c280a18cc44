#pragma once

// A run that several processes compute together, without processes: each shard runs until it has to wait for another one,
// ends there as if it were killed, and is begun again later. So every wait is a resumption, too.

#include "models/pipeline.h"

namespace hopscope::models {

// `dealt`: each is told what to compute, instead of a part of its own.
// The report of the shard that finishes the run, with the inputs of runPlan(), in a new folder that the report's maps outlive.
base::Result<executor::RunReport> runInShards(const Prepared& prepared, const plan::Plan& plan,
                                              const base::TensorMap& inputs, executor::Options options, int shards,
                                              bool dealt);

}  // namespace hopscope::models
