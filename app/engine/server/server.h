#pragma once

#include <stop_token>

#include "base/result.h"

namespace hopscope::engine {

// `serve`: answers one client on standard input and output, as docs/protocol.md has it, until it says goodbye, is gone, or
// `stop`. Returns the exit code; on return every run has ended and nothing of the engine's own is left on the disk.
base::Result<int> serve(const std::stop_token& stop);

}  // namespace hopscope::engine
