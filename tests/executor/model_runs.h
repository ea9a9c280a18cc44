#pragma once

// Runs a generated model staged and whole.

#include <filesystem>
#include <map>
#include <string>

#include "analysis/analyse.h"
#include "base/rules.h"
#include "executor/executor.h"
#include "graph/dataset.h"
#include "loader/tensors.h"
#include "placement/strategy.h"
#include "support/temporary_folder.h"

namespace hopscope::tests {

using test::TemporaryFolder;

// Everything that a run needs, made from NAME.pt and NAME.safetensors.
struct Prepared {
    std::shared_ptr<loader::Model> model;
    base::TensorMap data;
    loader::Walk walk;
    analysis::Analysis analysis;
    plan::Plan plan;
};

// A folder with the models of make_models.py, made at the first call.
const std::string& models();

base::Result<Prepared> prepare(const std::string& folder, const std::string& name, base::Strategy strategy);

std::map<std::string, at::Tensor> forward(const Prepared& prepared);

struct Outcome {
    std::map<std::string, at::Tensor> outputs;
    executor::RunReport report;
};
base::Result<Outcome> runStaged(const Prepared& prepared, executor::Options options, std::stop_token stop = {});

}  // namespace hopscope::tests
