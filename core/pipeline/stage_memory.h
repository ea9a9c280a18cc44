#pragma once

// What the batches of a stage hold when, with the names that people know.

#include "executor/forecast/predict.h"
#include "pipeline/prepare.h"
#include "schema/stage_memory.h"

namespace hopscope::pipeline {

// Fails as forecast::Predictor::memoryOf does.
base::Result<schema::StageMemoryRecord> stageMemory(const Prepared& prepared, forecast::Predictor& predictor,
                                                    const plan::Plan& plan, plan::StageId stage,
                                                    const forecast::PredictOptions& options, std::stop_token stop);

}  // namespace hopscope::pipeline
