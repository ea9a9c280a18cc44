#pragma once

// Makes the report of a run from the executor's measurements.

#include "executor/executor.h"
#include "pipeline/planner.h"
#include "schema/report.h"

namespace hopscope::pipeline {

// Converts a run to a report. The caller adds outputs and verification.
schema::Report toReport(const Prepared& prepared, const plan::Plan& plan, const executor::RunReport& run,
                        const base::Settings& settings, const std::optional<forecast::Forecast>& forecast);

}  // namespace hopscope::pipeline
