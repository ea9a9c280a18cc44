#pragma once

// Describes the progress of long-running work. Most of such work takes a progress callback and a stop token, which it
// checks often.

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
