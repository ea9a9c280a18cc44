#pragma once

// A run that several processes without a shared folder compute together, without processes: each owner runs until it has to
// wait for another one, ends there as if it were killed, and goes on later in its folder. What they hand to each other are
// files, as between real ones.

#include "models/pipeline.h"

namespace hopscope::models {

// The report of the process that gathers the outputs, in a new folder that the report's maps outlive.
base::Result<executor::RunReport> runInOwners(const Prepared& prepared, const plan::Plan& plan,
                                              const base::TensorMap& inputs, executor::Options options, int owners);

}  // namespace hopscope::models
