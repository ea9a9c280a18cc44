#pragma once

// `export`: a verified split as a folder that stands alone.

#include <map>
#include <stop_token>
#include <string>

#include "executor/events.h"
#include "pipeline/options.h"
#include "pipeline/partial_folder.h"
#include "pipeline/prepare.h"
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

// Runs and verifies the plan, writes the code (export/export.h) and, when `folder` is complete, gives it the name that
// the request asks for. Fails as a run does; with Different if the plan is not verified as equal,
// with Unsupported if the split cannot be expressed as code. A failure leaves nothing behind.
base::Result<schema::Split> exportFolder(const ExportRequest& request, PartialFolder& folder,
                                         executor::Observer& observer, Reporter& reporter, const std::stop_token& stop);

// The files that an export of this plan would write, by name, with their text; empty where the text is only known after
// the verification, or the file is binary. Writes nothing. Fails with Unsupported as exportFolder does.
base::Result<std::map<std::string, std::string>> previewExport(const Prepared& prepared, const plan::Plan& plan,
                                                               const std::string& tool);

// The schema.json of an exported folder, or a file of this kind. Fails with Input.
base::Result<schema::Split> readExported(const std::string& path);

// Whether an exported folder still fits: fails with Input if it was made from another model or other roles, with Internal if
// its stages.pt computes something else on the sample than the model. Other data cause a note; the hash of the data is
// then removed from `prepared`, so that the folder's plan.json can be read for them.
base::Status checkExported(Prepared& prepared, const std::string& folder, const std::string& scratch,
                           Reporter& reporter, const std::stop_token& stop);

}  // namespace hopscope::pipeline
