#pragma once

// Milliseconds on the clock, and those that this thread itself has worked: on a busy machine the first count others, too.

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

inline double threadTime()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

class StopWatch {
public:
    void start() { *this = {}; }
    [[nodiscard]] Span elapsed() const
    {
        const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - m_wall;
        return {wall.count(), threadTime() - m_work};
    }

private:
    std::chrono::steady_clock::time_point m_wall = std::chrono::steady_clock::now();
    double m_work = threadTime();
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

inline void row(const std::string& what, double goal, const std::vector<Span>& spans, double share)
{
    const double wall = quantile(spans, &Span::wall, share), work = quantile(spans, &Span::work, share);
    const char* verdict = wall <= goal ? "met" : work <= goal ? "missed: the machine is busy" : "MISSED";
    std::printf("%-62s %7.0f ms %9.1f ms %9.1f ms   %s\n", what.c_str(), goal, wall, work, verdict);
    std::fflush(stdout);
}

}  // namespace hopscope::watch
