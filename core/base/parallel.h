#pragma once

// Divides a range among threads. Each call creates its threads, so it is meant for work that takes milliseconds or
// more.

#include <cstdint>
#include <functional>

namespace hopscope::base {

// Returns the number of cores that this process may use, at least 1.
int hardwareThreads();

// Divides [0, count) into at most `threads` contiguous parts of nearly equal size, each at least `grain` long if there
// are several, and calls body(part, begin, end) once for each part. Returns when all calls have finished. `body` must not throw. The
// parts depend only on the arguments.
void parallelParts(std::int64_t count, int threads, std::int64_t grain,
                   const std::function<void(int part, std::int64_t begin, std::int64_t end)>& body);

}  // namespace hopscope::base
