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

// Runs and verifies the plan, writes the code (export/export.h), and gives `folder`, made for the one of the request, its name when
// all is in it. Fails as a run does; with Different if the plan is not verified as equal,
// with Unsupported if the split cannot be expressed as code. After a failure nothing is left.
base::Result<schema::Split> exportFolder(const ExportRequest& request, PartialFolder& folder,
                                         executor::Observer& observer, Reporter& reporter, const std::stop_token& stop);

// What the folder of an export of this plan would hold, by the names of the files: their text, or nothing where that is known
// only once the plan is verified, or is no text. Writes nothing. Fails with Unsupported as exportFolder does.
base::Result<std::map<std::string, std::string>> previewExport(const Prepared& prepared, const plan::Plan& plan,
                                                               const std::string& tool);

// The schema.json of an exported folder, or a file of this kind. Fails with Input.
base::Result<schema::Split> readExported(const std::string& path);

// Whether an exported folder still fits: fails with Input if it was made from another model or other roles, with Internal if
// its stages.pt computes something else on the sample than the model. Other data are noted; `prepared` has the hash of its
// data taken off then, so that the folder's plan.json can be read for them.
base::Status checkExported(Prepared& prepared, const std::string& folder, const std::string& scratch,
                           Reporter& reporter, const std::stop_token& stop);

}  // namespace hopscope::pipeline
