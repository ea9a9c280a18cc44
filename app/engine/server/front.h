#pragma once

#include <stop_token>

#include "base/result.h"

namespace hopscope::engine {

// `serve`: answers one client on standard input and output, by docs/reference/protocol.md, until it ends the
// conversation, is gone, or `stop`. Models live in processes of their own (server/model_process.h), confined if
// `sandbox`. Returns the exit code; on return every run has ended and nothing of the engine's own is left on the disk.
// beginModelProcesses() has to come first.
base::Result<int> serve(const std::stop_token& stop, bool sandbox);

}  // namespace hopscope::engine
