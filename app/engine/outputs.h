#pragma once

#include <vector>

#include "base/result.h"
#include "executor/executor.h"
#include "output_folder.h"
#include "schema/report.h"

namespace hopscope::engine {

// Readies the results of a run for publishing: stores as they are, values in memory written to the journal, dtypes that
// numpy lacks as .safetensors. Fails with Resources.
base::Result<std::vector<schema::OutputRecord>> stageOutputs(const executor::RunReport& run, OutputFolder& folder);

// Writes `text` to the journal, to be published as `name`.
base::Status stageText(const std::string& text, const std::string& name, OutputFolder& folder);

// Writes `text` to a temporary file beside `path` and renames it.
base::Status writeTextFile(const std::string& text, const std::string& path);

}  // namespace hopscope::engine
