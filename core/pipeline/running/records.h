#pragma once

// Makes the report of a run from the executor's measurements.

#include "executor/executor.h"
#include "pipeline/planning/planner.h"
#include "schema/report.h"

namespace hopscope::pipeline {

// Returns the report of a run, to which publish() adds the outputs, the verification and numbers that are not finite.
schema::Report toReport(const Prepared& prepared, const plan::Plan& plan, const executor::RunReport& run,
                        const base::Settings& settings, const std::optional<forecast::Forecast>& forecast);

}  // namespace hopscope::pipeline
