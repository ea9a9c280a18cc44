#include "verify/passive_waiting.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <ATen/Parallel.h>

#include "base/parallel.h"

namespace hopscope::verify {

namespace {

// Threads of a team are kept, asleep, until the one that began it ends.
void sleepWithTeam(const std::stop_token& stop, int size, std::latch& asleep)
{
#pragma omp parallel num_threads(size)
#pragma omp master
    asleep.count_down();
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait(lock, stop, [] { return false; });
}

}  // namespace

// The team of the calling thread and this one have one thread more than there are cores; who begins a team is not counted to it.
PassiveWaiting::PassiveWaiting()
{
    const int size = std::max(base::hardwareThreads() - at::get_num_threads(), 0) + 2;
    m_idle = std::jthread([this, size](const std::stop_token& stop) { sleepWithTeam(stop, size, m_asleep); });
    m_asleep.wait();
}

}  // namespace hopscope::verify
