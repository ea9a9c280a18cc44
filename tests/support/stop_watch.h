#pragma once

// Milliseconds on the clock, and those that were really worked, by this thread, by all of the program, or by it and the
// processes that it has started: on a busy machine the first count others, too. A goal is met if either is within it.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace hopscope::watch {

struct Span {
    double wall = 0, work = 0;
};

enum class Whose { Thread, Program, Family };

inline double milliseconds(clockid_t clock)
{
    timespec now{};
    if (clock_gettime(clock, &now) != 0) return 0;  // of a process that is gone
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Of the processes that this one has started, those that have ended among them.
inline double childrenTime()
{
    rusage ended{};
    getrusage(RUSAGE_CHILDREN, &ended);
    const auto in = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
    };
    double sum = in(ended.ru_utime) + in(ended.ru_stime);
    std::error_code gone;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", gone)) {
        std::ifstream children(thread.path() / "children");
        clockid_t clock{};
        for (pid_t child = 0; children >> child;)
            if (clock_getcpuclockid(child, &clock) == 0) sum += milliseconds(clock);
    }
    return sum;
}

inline double workTime(Whose whose)
{
    if (whose == Whose::Thread) return milliseconds(CLOCK_THREAD_CPUTIME_ID);
    return milliseconds(CLOCK_PROCESS_CPUTIME_ID) + (whose == Whose::Family ? childrenTime() : 0);
}

class StopWatch {
public:
    explicit StopWatch(Whose whose = Whose::Thread) : m_whose(whose) {}
    void start() { *this = StopWatch(m_whose); }
    [[nodiscard]] Span elapsed() const
    {
        const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - m_wall;
        return {wall.count(), workTime(m_whose) - m_work};
    }

private:
    Whose m_whose;
    std::chrono::steady_clock::time_point m_wall = std::chrono::steady_clock::now();
    double m_work = workTime(m_whose);
};

inline double quantile(const std::vector<Span>& spans, double Span::*part, double share)
{
    if (spans.empty()) return 0;
    std::vector<double> values;
    for (const Span& span : spans) values.push_back(span.*part);
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

inline void title() { std::printf("%-62s %10s %12s %12s\n", "what", "goal", "measured", "own work"); }

// How many times as long as on a quiet core of the machine on which the goals were set a fixed piece of work takes now: a tree
// that is filled and walked, in and out of the caches. At least 1.
inline double slowness()
{
    constexpr double quiet = 45;  // milliseconds: 37 to 50 were seen
    const StopWatch watch;
    std::map<std::uint32_t, std::uint32_t> tree;
    std::uint32_t number = 1;
    for (std::uint32_t i = 0; i < 100'000; ++i) tree[number = number * 1'664'525u + 1'013'904'223u] = i;
    std::uint64_t sum = 0;
    for (const auto& [key, value] : tree) sum += key ^ value;
    volatile std::uint64_t seen = sum;  // so that the work is done
    static_cast<void>(seen);
    return std::max(1.0, watch.elapsed().work / quiet);
}

// What own work may take instead of a goal, as a factor: where others use the core's other thread and its caches, or the
// machine is a slow one, work takes longer, and not all work equally. The larger of now and the last time, since the work in question
// lay between.
inline double allowance()
{
    constexpr double unequal = 1.6;  // the same frames took 16 ms of work at a load of 3 and up to 26 at 5
    static double last = slowness();
    const double now = slowness();
    return unequal * std::max(now, std::exchange(last, now));
}

// Goals that were missed by own work alone, with that allowance, since it was last set to zero.
inline int& misses()
{
    static int count = 0;
    return count;
}

// Whether a goal is met by the clock, by own work, or by own work on such a machine; counts a miss.
inline const char* verdict(double goal, const Span& span)
{
    const double allowed = goal * allowance();
    if (span.wall <= goal) return "met";
    if (span.work <= goal) return "missed: the machine is busy";
    if (span.work <= allowed) return "missed: the machine is slow or busy";
    ++misses();
    return "MISSED";
}

inline void row(const std::string& what, double goal, const std::vector<Span>& spans, double share)
{
    const Span span{quantile(spans, &Span::wall, share), quantile(spans, &Span::work, share)};
    std::printf("%-62s %7.0f ms %9.1f ms %9.1f ms   %s\n", what.c_str(), goal, span.wall, span.work,
                verdict(goal, span));
    std::fflush(stdout);
}

// The exit code of a program that measures: 1 if every one of three attempts misses a goal.
template <class Measure>
int untilMet(Measure measure)
{
    for (int attempt = 0; attempt < 3; ++attempt) {
        misses() = 0;
        measure();
        if (misses() == 0) return 0;
    }
    return 1;
}

}  // namespace hopscope::watch
