#pragma once

#include "base/result.h"
#include "pipeline/execute.h"
#include "pipeline/output_folder.h"
#include "schema/report.h"

namespace hopscope::pipeline {

// The results of a run and its report appear in the folder in one go. Outputs and verification are added to `report`.
// Fails with Resources.
base::Result<schema::Report> publish(const Execution& execution, schema::Report report, OutputFolder& folder);

}  // namespace hopscope::pipeline
