#pragma once

// The debugger on models from files. Branches of the models must be settled (settleBranches).

#include "debugger/debugger.h"
#include "debugger/tensor.h"
#include "pipeline/prepare.h"

namespace hopscope::pipeline {

struct DebugOptions {
    PlanSource plan;      // the plan of the staged run, if none is given
    std::string against;  // another model file, on the same data; empty: the staged run against the unsplit model
    std::optional<std::int64_t> batch;
    schema::ToleranceRecord tolerance;
};

// The prepared model in the form that the debugger takes.
debugger::Subject subjectOf(const Prepared& prepared);

// Makes the plan of a run on the CPU. Fails with the reason if the model cannot be split.
base::Result<plan::Plan> debugPlan(Prepared& prepared, const DebugOptions& options, const std::string& folder,
                                   Reporter& reporter, const std::stop_token& stop);

// `model` is that of `prepared`: both models use its data and roles.
base::Result<schema::DivergenceRecord> compareModels(const Prepared& prepared, const ModelOptions& model,
                                                     const DebugOptions& options, const std::string& folder,
                                                     Reporter& reporter, const std::stop_token& stop);

// The same for two models that are prepared.
base::Result<schema::DivergenceRecord> compareModels(const Prepared& prepared, const Prepared& other,
                                                     const DebugOptions& options, const std::string& folder,
                                                     Reporter& reporter, const std::stop_token& stop);

base::Result<schema::DivergenceRecord> compareStaged(const Prepared& prepared, const plan::Plan& plan,
                                                     const DebugOptions& options, const std::string& folder,
                                                     Reporter& reporter, const std::stop_token& stop);

base::Result<schema::NonFiniteReport> findNonFinite(const Prepared& prepared, const plan::Plan& plan,
                                                    const DebugOptions& options, const std::string& folder,
                                                    Reporter& reporter, const std::stop_token& stop);

base::Result<schema::WatchReport> watchValues(const Prepared& prepared, const plan::Plan& plan,
                                              const debugger::WatchRequest& request, const DebugOptions& options,
                                              const std::string& folder, Reporter& reporter,
                                              const std::stop_token& stop);

base::Result<debugger::SeenTensor> seeTensor(const Prepared& prepared, const plan::Plan& plan,
                                             const debugger::TensorRequest& request, const DebugOptions& options,
                                             const std::string& folder, Reporter& reporter,
                                             const std::stop_token& stop);

// Knows the rows of tables. `prepared` must outlive it.
base::Result<executor::UnsplitValues> tablesOf(const Prepared& prepared, const std::string& folder);

}  // namespace hopscope::pipeline
