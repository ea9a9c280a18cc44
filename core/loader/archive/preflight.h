#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace hopscope::loader {

struct ChildLimits {
    unsigned seconds = 0;
    std::uint64_t bytes = std::uint64_t{1} << 30;  // of address space, in addition to that of this process
};

// Tries `work` in a forked child process: LibTorch does not validate the contents of an archive, and a malicious file
// can crash it. Succeeds if the child exits by itself, even if `work` failed there; the caller then runs `work` in this
// process to get the result or the error. Fails with Input if the child crashed or exceeded the time limit. Fails with
// Resources if the child needed more memory, which `work` reports by std::bad_alloc, or was killed from outside, for
// example because memory ran out. Discards the output of the child. `work` must not depend on other threads, which a
// forked child does not have.
base::Status survives(const std::string& path, const std::function<void()>& work, const ChildLimits& limits);

}  // namespace hopscope::loader
