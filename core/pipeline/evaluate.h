#pragma once

// The way of a file, from the model and the data to published results.

#include <optional>
#include <stop_token>

#include "pipeline/execute.h"
#include "pipeline/output_folder.h"
#include "schema/report.h"

namespace hopscope::pipeline {

struct EvaluationRequest {
    ModelOptions model;
    PlanSource plan;
    DeviceOptions device;
    verify::Mode verify = verify::Mode::Sample;
    executor::NanPolicy nan = executor::NanPolicy::Propagate;
};

struct Evaluation {
    schema::Report report;                   // as it was published
    std::optional<verify::Verdict> verdict;  // on the whole graph, where one was asked for
};

// `observer` hears of the run, `reporter` of everything else. Fails as its steps do; nothing is published then.
base::Result<Evaluation> evaluate(const EvaluationRequest& request, OutputFolder& folder, executor::Observer& observer,
                                  Reporter& reporter, const std::stop_token& stop);

}  // namespace hopscope::pipeline
