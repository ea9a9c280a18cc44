#pragma once

#include <vector>

#include "base/result.h"
#include "executor/executor.h"
#include "pipeline/files/output_folder.h"
#include "schema/report.h"

namespace hopscope::pipeline {

// Prepares the results of a run for publishing. Uses stores in files as they are, and writes values in memory to the
// journal. Dtypes that numpy lacks become .safetensors files. Fails with Resources.
base::Result<std::vector<schema::OutputRecord>> stageOutputs(const executor::RunReport& run, OutputFolder& folder);

// Writes `text` to the journal, to be published as `name`.
base::Status stageText(const std::string& text, const std::string& name, OutputFolder& folder);

}  // namespace hopscope::pipeline
