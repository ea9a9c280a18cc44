#pragma once

// Answers the requests to the process of a model, which all concern one document, its runs and exports
// (docs/reference/protocol.md).

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/files/partial_folder.h"
#include "server/channel.h"

namespace hopscope::engine {

// The data with which such a process starts.
struct ModelProcessBeginning {
    std::int64_t number = 1;  // of the document that it opens
    std::int64_t firstRun = 1;
    std::optional<base::Result<pipeline::PartialFolder>> exported{};  // for export/write
};

// Serves until the other end of the channel is closed, and returns the exit code. By then every run has ended.
int serveModel(Channel& channel, const std::string& folder, ModelProcessBeginning& beginning);

}  // namespace hopscope::engine
