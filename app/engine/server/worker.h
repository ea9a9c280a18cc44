#pragma once

#include <stop_token>

#include "base/result.h"

namespace hopscope::engine {

// `worker`: computes shards of a run that a client deals out on standard input and output, as docs/protocol.md has it, until
// the client says goodbye, is gone, or `stop`. Returns the exit code; on return nothing of this process is under way.
base::Result<int> work(const std::stop_token& stop);

}  // namespace hopscope::engine
