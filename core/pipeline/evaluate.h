#pragma once

// From a model file and its data to published results: all steps of the pipeline, in order.

#include <optional>
#include <stop_token>

#include "pipeline/execute.h"
#include "pipeline/output_folder.h"
#include "schema/report.h"

namespace hopscope::pipeline {

struct EvaluationRequest {
    ModelOptions model;
    PlanSource plan;
    base::Settings settings;
    std::optional<ShardOptions> shard = std::nullopt;  // CPU: compute a part of the run; implies settings.resume
};

struct Evaluation {
    schema::Report report;                        // as published; for a shard that is not the last one, its part
    std::optional<schema::Verification> verdict;  // on the whole graph, if requested
};

// The report.json of a folder.
base::Result<schema::Report> reportIn(const OutputFolder& folder);

// Opens a shared folder if the request is for a shard.
base::Result<OutputFolder> openFolder(const EvaluationRequest& request, const std::string& path,
                                      const std::stop_token& stop);

// `observer` gets the events of the run, `reporter` the progress and notes of all other steps. If a step fails, its error is
// returned and nothing is published; with a journal, finished work stays in the folder. If the request is to resume and
// the results in the folder are already complete (OutputFolder::completed, or those of the same shards), returns their
// report. The folder of a shard is a shared one.
base::Result<Evaluation> evaluate(const EvaluationRequest& request, OutputFolder& folder, executor::Observer& observer,
                                  Reporter& reporter, const std::stop_token& stop);

}  // namespace hopscope::pipeline
