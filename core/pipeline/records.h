#pragma once

// Converts the measurements of the engine's modules to the records of the documents.

#include "executor/executor.h"
#include "pipeline/planner.h"
#include "schema/report.h"

namespace hopscope::pipeline {

// Outputs and verification are added by the caller.
schema::Report toReport(const Prepared& prepared, const plan::Plan& plan, const executor::RunReport& run,
                        const base::Settings& settings, const std::optional<forecast::Forecast>& forecast);

}  // namespace hopscope::pipeline
