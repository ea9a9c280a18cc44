#pragma once

// Splits a range over short-lived threads. Threads are created per call: meant for work of milliseconds and more.

#include <cstdint>
#include <functional>

namespace hopscope::base {

// Cores this process may use; at least 1.
int hardwareThreads();

// Calls body(part, begin, end) once per part of [0, count), cut into at most `threads` contiguous parts of nearly equal
// size, each at least `grain` long; returns when all are done. `body` must not throw. The cut depends on the arguments
// alone.
void parallelParts(std::int64_t count, int threads, std::int64_t grain,
                   const std::function<void(int part, std::int64_t begin, std::int64_t end)>& body);

}  // namespace hopscope::base
