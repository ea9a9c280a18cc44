#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace hopscope::loader {

// Tries `work` in a forked child process: LibTorch does not validate the contents of an archive, and a malicious file
// can crash it. Succeeds if the child exits by itself, even if `work` failed there; the caller then runs it in this
// process to get the result or the error. Fails with Input if the child crashed or took longer than `seconds`, with
// Resources if somebody killed it, as the system does where memory runs out. Output of the child is discarded. `work`
// must not depend on other threads, which a forked child does not have.
base::Status survives(const std::string& path, const std::function<void()>& work, unsigned seconds);

}  // namespace hopscope::loader
