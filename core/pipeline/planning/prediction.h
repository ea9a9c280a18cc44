#pragma once

// Writes predictions: the bytes that a plan will move and hold into the plan itself, and bytes and times as the member
// `predicted` of answers.

#include "executor/forecast/predict.h"
#include "pipeline/opening/prepare.h"
#include "schema/plan_answers.h"

namespace hopscope::pipeline {

// Returns the largest peak memory of a stage, in bytes.
std::int64_t peakOf(const forecast::Prediction& prediction);

// Fills `bytes`, `peak_memory` and, for each stored value, `bytes_read` and, if it is predicted, `bytes_written`.
void fillPlan(plan::Plan& plan, const forecast::Prediction& prediction);

// Returns the member `predicted` of the answers to plan/make and plan/load.
schema::Prediction predictionOf(const plan::Plan& plan, const forecast::Forecast& forecast);

}  // namespace hopscope::pipeline
