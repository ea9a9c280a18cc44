#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "base/progress.h"
#include "base/result.h"

namespace hopscope::graph {

// The threads, the progress callback and the stop token of a long operation.
struct Work {
    int threads = 1;
    const base::ProgressFn& progress;  // may be empty; called on the calling thread, at most 20 times a second
    std::stop_token stop;
};

base::Status cancelled();  // the error of a stopped operation

// Calls body(begin, end) for consecutive chunks of [0, count), on several threads, until all are done, one fails or a
// stop is requested. Returns the first failure.
base::Status forEachChunk(const Work& work, const std::string& what, std::int64_t count, std::int64_t chunk,
                          const std::function<base::Status(std::int64_t begin, std::int64_t end)>& body);

}  // namespace hopscope::graph
