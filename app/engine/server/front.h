#pragma once

#include <stop_token>

#include "base/result.h"

namespace hopscope::engine {

// Implements `serve`: answers one client on standard input and output, as docs/reference/protocol.md describes, until
// the client ends the conversation or disconnects, or until `stop` is requested. Each model has a process of its own
// (server/model_process.h), confined if `sandbox`. Returns the exit code; by then every run has ended, and the
// temporary files are gone. Call beginModelProcesses() first.
base::Result<int> serve(const std::stop_token& stop, bool sandbox);

}  // namespace hopscope::engine
