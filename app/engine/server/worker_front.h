#pragma once

#include <stop_token>

#include "base/result.h"

namespace hopscope::engine {

// Implements `worker`: computes shards of a run that a client assigns on standard input and output, as
// docs/reference/protocol.md describes, until the client ends the conversation or disconnects, or until `stop` is
// requested. Each run is computed in a process of its own (server/worker.h), confined if `sandbox`; if that process is
// killed, this one ends by the same signal. Returns the exit code; by then no work of this process remains. Call
// beginModelProcesses() first.
base::Result<int> work(const std::stop_token& stop, bool sandbox);

}  // namespace hopscope::engine
