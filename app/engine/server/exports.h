#pragma once

// Answers the requests about exported folders: export/write, export/read and export/check.

#include "pipeline/files/partial_folder.h"
#include "server/documents.h"

namespace hopscope::engine {

// The first two functions prepare the model again, as the commands do. `made` is the destination of the export;
// `folder` is for files that exist during the request.
Outcome writeExport(const protocol::WriteExport& query, base::Result<pipeline::PartialFolder>& made,
                    const std::string& folder, const Call& call);
Outcome checkExport(const protocol::CheckExport& query, const std::string& folder, const Call& call);
Outcome readExport(const protocol::ReadExport& query);

}  // namespace hopscope::engine
