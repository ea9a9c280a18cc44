#pragma once

// Writes the bytes that a plan is predicted to move and hold, into the plan itself and as a separate document.

#include "executor/forecast/predict.h"
#include "pipeline/prepare.h"
#include "schema/plan_answers.h"

namespace hopscope::pipeline {

// Returns the largest peak memory of a stage, in bytes.
std::int64_t peakOf(const forecast::Prediction& prediction);

// Fills `bytes`, `peak_memory` and the `bytes_written` and `bytes_read` of each stored value.
void fillPlan(plan::Plan& plan, const forecast::Prediction& prediction);

// Returns the member `predicted` of the answer to plan/make.
schema::Prediction predictionOf(const plan::Plan& plan, const forecast::Forecast& forecast);

}  // namespace hopscope::pipeline
