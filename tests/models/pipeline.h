#pragma once

// The whole engine in one process, step by step as the command line does it: what the model tests and the mutation
// runner drive.

#include <map>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/roles/roles.h"
#include "base/result.h"
#include "executor/executor.h"
#include "executor/forecast/predict.h"
#include "loader/loader.h"
#include "placement/optimise.h"
#include "plan/plan.h"

namespace hopscope::models {

// A model specialised to inputs.
struct Prepared {
    loader::Walk walk;
    analysis::InputSchema schema;
    analysis::Analysis analysis;
};

// bind, inferSchema, cutSample, walk, analyse; the analysis' refusal becomes the error.
base::Result<Prepared> prepare(const loader::Model& model, const base::TensorMap& inputs,
                               const std::vector<std::string>& roles);

// Bytes that each batch of a run has held at most, in order, by index of its stage.
using BatchPeaks = std::map<plan::StageId, std::vector<std::int64_t>>;

// Each input in a file of its own in `folder`, and the files by input. Products round by where their operands lie, so that
// runs are compared to the bit on inputs that were copied alike.
base::Result<base::TensorMap> copiesOf(const base::TensorMap& inputs, const std::string& folder,
                                       std::map<std::string, std::string>& files);

// Runs in a new folder under the system's temporary folder, which the report's maps outlive. In tiles, from copies of the
// inputs that the run empties when it does not need them any more.
base::Result<executor::RunReport> runPlan(const Prepared& prepared, const plan::Plan& plan,
                                          const base::TensorMap& inputs, executor::Options options,
                                          BatchPeaks* peaks = nullptr);

// What the plan would move in batches of `batch`, and hold in each.
base::Result<forecast::Prediction> predictPlan(const Prepared& prepared, const plan::Plan& plan,
                                               const base::TensorMap& inputs, std::int64_t batch);

// With what a GPU can keep.
base::Result<plan::Plan> withResidents(const Prepared& prepared, plan::Plan plan, const base::TensorMap& inputs,
                                       std::int64_t batch);

// The cheapest plan for batches of this size on a typical machine.
base::Result<plan::Plan> optimalPlan(const Prepared& prepared, const base::TensorMap& inputs,
                                     placement::Objective objective, std::int64_t batch);

}  // namespace hopscope::models
