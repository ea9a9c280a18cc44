#include "graph/chunks.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include "base/parallel.h"

namespace hopscope::graph {

namespace {

using Clock = std::chrono::steady_clock;

// Calls on at most every 50 ms.
class Throttle {
public:
    Throttle(const base::ProgressFn& progress, std::string what, std::int64_t total)
        : m_progress(progress),
          m_what(std::move(what)),
          m_total(total)
    {}

    void report(std::int64_t done)
    {
        const Clock::time_point now = Clock::now();
        if (!m_progress || now < m_next) return;
        m_next = now + std::chrono::milliseconds(50);
        m_progress({m_what, done, m_total});
    }

private:
    const base::ProgressFn& m_progress;
    std::string m_what;
    std::int64_t m_total;
    Clock::time_point m_next;
};

// State shared by the threads.
struct Shared {
    std::atomic<std::int64_t> next{0}, done{0};
    std::atomic<bool> failed{false};
    std::mutex mutex;
    base::Status status;

    void fail(base::Status why)
    {
        const std::lock_guard lock(mutex);
        if (!failed.exchange(true)) status = std::move(why);
    }
};

}  // namespace

base::Status cancelled() { return base::fail(base::ErrorCode::Cancelled, "cancelled before completion"); }

base::Status forEachChunk(const Work& work, const std::string& what, std::int64_t count, std::int64_t chunk,
                          const std::function<base::Status(std::int64_t, std::int64_t)>& body)
{
    Shared shared;
    Throttle throttle(work.progress, what, count);
    const std::int64_t chunks = count / chunk + (count % chunk != 0 ? 1 : 0);
    const auto threads = static_cast<int>(std::clamp<std::int64_t>(chunks, 1, std::max(work.threads, 1)));
    base::parallelParts(threads, threads, 1, [&](int part, std::int64_t, std::int64_t) {
        for (std::int64_t i = shared.next++; i < chunks && !shared.failed; i = shared.next++) {
            const std::int64_t begin = i * chunk, end = std::min(count, begin + chunk);
            base::Status status = work.stop.stop_requested() ? cancelled() : body(begin, end);
            if (!status) return shared.fail(std::move(status));
            shared.done += end - begin;
            if (part == 0) throttle.report(shared.done);
        }
    });
    return shared.status;
}

}  // namespace hopscope::graph
