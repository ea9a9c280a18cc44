#pragma once

// Exports a verified split as a self-contained folder, previews its files, and checks exported folders.

#include <map>
#include <stop_token>
#include <string>

#include "executor/events.h"
#include "pipeline/files/partial_folder.h"
#include "pipeline/opening/prepare.h"
#include "pipeline/options.h"
#include "pipeline/reporter.h"
#include "schema/split.h"

namespace hopscope::pipeline {

struct ExportRequest {
    ModelOptions model;
    PlanSource plan;
    base::Settings settings;
    std::string folder;
    std::string tool = {};  // "hopscope 0.1.0"
};

// Runs and verifies the plan, writes the code (export/export.h) and, when `folder` is complete, renames it to the
// requested name. Fails as a run and exporter::write() do, with Different if the verdict is not "equal", and with
// Internal if the code computes other results on the sample. A failure leaves no files.
base::Result<schema::Split> exportFolder(const ExportRequest& request, PartialFolder& folder,
                                         executor::Observer& observer, Reporter& reporter, const std::stop_token& stop);

// Returns the texts of the files that an export of this plan would write, by name. The text is empty for binary files,
// for those that depend on the verification, and for run.py. Writes nothing. Fails as exporter::write() does.
base::Result<std::map<std::string, std::string>> previewExport(const Prepared& prepared, const plan::Plan& plan,
                                                               const std::string& tool);

// Reads the schema.json of an exported folder; `path` is that of the folder or of the file. Fails with Input.
base::Result<schema::Split> readExported(const std::string& path);

// Checks whether an exported folder is still valid. Fails with Input if it was made from a different model or different
// roles, or if its stages.pt fails or computes results on the sample that differ from the model's. Reports a note if
// the data differ; the hash of the data is then removed from `prepared`, so that the folder's plan.json can be read.
base::Status checkExported(Prepared& prepared, const std::string& folder, const std::string& scratch,
                           Reporter& reporter, const std::stop_token& stop);

}  // namespace hopscope::pipeline
