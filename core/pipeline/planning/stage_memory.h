#pragma once

// Lists the values that the batches of a stage hold at each step, with readable names.

#include "executor/forecast/predict.h"
#include "pipeline/opening/prepare.h"
#include "schema/stage_memory.h"

namespace hopscope::pipeline {

// Returns the memory of a stage. Fails as forecast::Predictor::memoryOf() does.
base::Result<schema::StageMemoryRecord> stageMemory(const Prepared& prepared, forecast::Predictor& predictor,
                                                    const plan::Plan& plan, plan::StageId stage,
                                                    const forecast::PredictOptions& options, std::stop_token stop);

}  // namespace hopscope::pipeline
