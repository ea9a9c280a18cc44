#pragma once

// Exported folders: export/preview, export/write, export/read and export/check.

#include "pipeline/partial_folder.h"
#include "server/documents.h"

namespace hopscope::engine {

Outcome previewExport(const Document& document, const json::Reader& params);
// These two prepare the model anew, as the commands do. `made`: the destination of the export; `folder`: for files that
// exist during the request.
Outcome writeExport(const json::Reader& params, base::Result<pipeline::PartialFolder>& made, const std::string& folder,
                    const Call& call);
Outcome checkExport(const json::Reader& params, const std::string& folder, const Call& call);
Outcome readExport(const json::Reader& params);

}  // namespace hopscope::engine
