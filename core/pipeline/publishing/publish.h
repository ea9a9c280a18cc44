#pragma once

#include "base/result.h"
#include "pipeline/files/output_folder.h"
#include "pipeline/running/execute.h"
#include "schema/report.h"

namespace hopscope::pipeline {

// Publishes the results of a run and its report together. Returns the report with the outputs, the verification and the
// numbers that are not finite, shortened to its bounds (schema::bounded). Fails with Resources, and with Input if
// another process has taken over the run.
base::Result<schema::Report> publish(const Execution& execution, schema::Report report, OutputFolder& folder);

}  // namespace hopscope::pipeline
