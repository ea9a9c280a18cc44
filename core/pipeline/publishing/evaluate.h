#pragma once

// Runs all steps of the pipeline in order, from a model file and its data to published results.

#include <optional>
#include <stop_token>

#include "pipeline/files/output_folder.h"
#include "pipeline/running/execute.h"
#include "schema/report.h"

namespace hopscope::pipeline {

struct EvaluationRequest {
    ModelOptions model;
    PlanSource plan;
    base::Settings settings;
    std::optional<ShardOptions> shard = std::nullopt;  // compute a part of the run; implies settings.resume
};

struct Evaluation {
    schema::Report report;  // as published; that of the part, for a shard that is not the last one
    std::optional<schema::Verification> verdict;  // of the results; none: without verification
};

// Reads the report.json of a folder.
base::Result<schema::Report> reportIn(const OutputFolder& folder);

// Opens the output folder of a run, or the shared folder if the request is for a shard.
base::Result<OutputFolder> openFolder(const EvaluationRequest& request, const std::string& path,
                                      const std::stop_token& stop);

// Evaluates the model. `observer` receives the events of the run, `reporter` the progress and notes of all other steps.
// If a step fails, returns its error and publishes nothing; with a journal, finished work remains in the folder. If the
// request is to resume a run whose results are already complete (OutputFolder::completed, or those of the same shards),
// returns their report. A shard requires a shared folder.
base::Result<Evaluation> evaluate(const EvaluationRequest& request, OutputFolder& folder, executor::Observer& observer,
                                  Reporter& reporter, const std::stop_token& stop);

}  // namespace hopscope::pipeline
