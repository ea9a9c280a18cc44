#pragma once

// The bytes that a plan is predicted to move and hold, for the plan itself and for a separate document.

#include "executor/forecast/predict.h"
#include "pipeline/prepare.h"
#include "schema/plan_answers.h"

namespace hopscope::pipeline {

// The largest of any stage, in bytes.
std::int64_t peakOf(const forecast::Prediction& prediction);

// Fills `bytes`, `peak_memory` and the `bytes_written` and `bytes_read` of each stored value.
void fillPlan(plan::Plan& plan, const forecast::Prediction& prediction);

// The `predicted` member of plan/make's answer.
schema::Prediction predictionOf(const plan::Plan& plan, const forecast::Forecast& forecast);

}  // namespace hopscope::pipeline
