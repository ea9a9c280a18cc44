#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace hopscope::base {

int hardwareThreads()
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    return std::max(1, CPU_COUNT(&allowed));
}

void parallelParts(std::int64_t count, int threads, std::int64_t grain,
                   const std::function<void(int, std::int64_t, std::int64_t)>& body)
{
    const std::int64_t largest = count / std::max<std::int64_t>(grain, 1);
    const std::int64_t parts = std::clamp<std::int64_t>(largest, 1, std::max(threads, 1));
    // Quotient and remainder: count * part could overflow.
    const auto edge = [&](std::int64_t part) { return count / parts * part + std::min(part, count % parts); };
    std::vector<std::jthread> workers;
    for (std::int64_t part = 1; part < parts; ++part)
        workers.emplace_back([&, part] { body(static_cast<int>(part), edge(part), edge(part + 1)); });
    body(0, 0, edge(1));
}

}  // namespace hopscope::base
