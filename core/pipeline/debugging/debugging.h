#pragma once

// Runs the debugger on models from files. Call settleBranches() on them first.

#include "debugger/debugger.h"
#include "debugger/tensor.h"
#include "pipeline/opening/prepare.h"

namespace hopscope::pipeline {

struct DebugOptions {
    PlanSource plan;      // the plan that debugPlan() reads or makes
    std::string against;  // a second model file, on the same data; empty: compare the staged run with the unsplit model
    std::optional<std::int64_t> batch;
    schema::ToleranceRecord tolerance;
};

// Returns the prepared model in the form that the debugger requires.
debugger::Subject subjectOf(const Prepared& prepared);

// Reads the plan of a run on the CPU from a file, or makes it by depth. Fails with the reason if the model cannot be
// split.
base::Result<plan::Plan> debugPlan(Prepared& prepared, const DebugOptions& options, const std::string& folder,
                                   Reporter& reporter, const std::stop_token& stop);

// Compares the prepared model with that of options.against. `model`: the options with which it was prepared; their data
// and roles apply to both models.
base::Result<schema::DivergenceRecord> compareModels(const Prepared& prepared, const ModelOptions& model,
                                                     const DebugOptions& options, const std::string& folder,
                                                     Reporter& reporter, const std::stop_token& stop);

// Compares two prepared models.
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

// Returns an object that computes the rows of tables. `prepared` must outlive it.
base::Result<executor::UnsplitValues> tablesOf(const Prepared& prepared, const std::string& folder);

}  // namespace hopscope::pipeline
