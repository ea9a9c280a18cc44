#pragma once

// What a plan will move and hold, put into the plan itself and into a document of its own.

#include "forecast/predict.h"
#include "pipeline/prepare.h"
#include "json/json.h"

namespace hopscope::pipeline {

// Fills `bytes`, `peak_memory` and each checkpoint's `bytes_written` and `bytes_read`.
void fillPlan(plan::Plan& plan, const forecast::Prediction& prediction);

// The `predicted` member of plan/make's answer.
json::Value predictionValue(const plan::Plan& plan, const forecast::Forecast& forecast);

// Fails with Resources if not even a batch of one destination fits into the limit of memory, and names a limit that is
// enough: for plans as for runs of them, so that both say the same. Counts what a dry run holds on a CPU, and the tensors
// of the program where there is none; of limits in between only a run can tell. `prediction` is that of the plan with this
// limit.
base::Status checkMemory(const plan::Plan& plan, const forecast::Prediction& prediction, forecast::Predictor& predictor,
                         const DeviceOptions& device, const std::stop_token& stop);

}  // namespace hopscope::pipeline
