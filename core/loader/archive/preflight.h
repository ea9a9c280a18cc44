#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace hopscope::loader {

// Runs `work` in a forked child first: LibTorch's reader trusts what an archive's checksums vouch for, and a file that was
// made to harm can crash it. Succeeds if the child comes to an end by itself, whatever it found: the caller then does the
// work again and deals with errors as values. Fails with Input if a signal ended the child, or if it took longer than
// `seconds`. What the child writes to its output is dropped.
//
// The child inherits a copy of this process, so that nothing is loaded or started anew; it must not need other threads.
base::Status survives(const std::string& path, const std::function<void()>& work, unsigned seconds);

}  // namespace hopscope::loader
