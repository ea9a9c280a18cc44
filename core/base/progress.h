#pragma once

// Long work takes a stop token and a progress callback; it checks the first and calls the second often enough to be
// cancelled at once and at most some 20 times a second.

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

namespace hopscope::base {

struct Progress {
    std::string what;  // "stage 2 of 3", "reading edge_index"
    std::int64_t done = 0;
    std::int64_t total = 0;  // 0: unknown
};

using ProgressFn = std::function<void(const Progress&)>;

}  // namespace hopscope::base
