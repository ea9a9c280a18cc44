#pragma once

// Exported folders: export/write, export/read and export/check.

#include "pipeline/partial_folder.h"
#include "server/documents.h"

namespace hopscope::engine {

// These two prepare the model anew, as the commands do. `made`: the destination of the export; `folder`: for files that
// exist during the request.
Outcome writeExport(const protocol::WriteExport& query, base::Result<pipeline::PartialFolder>& made,
                    const std::string& folder, const Call& call);
Outcome checkExport(const protocol::CheckExport& query, const std::string& folder, const Call& call);
Outcome readExport(const protocol::ReadExport& query);

}  // namespace hopscope::engine
