#pragma once

// Private to executor: records the starts of the phases of a batch, in seconds since the start of the run, and their
// durations. Phases on the host are measured with a monotonic clock, those on a GPU with its events.

#include <array>
#include <utility>

#include "executor/events.h"

namespace hopscope::executor {

double steadySeconds();

struct PhaseTimes {
    std::array<double, phaseCount> seconds{}, starts{};

    void add(Phase phase, double start, double duration)
    {
        const auto p = static_cast<std::size_t>(phase);
        if (seconds[p] == 0) starts[p] = start;
        seconds[p] += duration;
    }

    void add(const PhaseTimes& other)
    {
        for (int p = 0; p < phaseCount; ++p) {
            const auto at = static_cast<std::size_t>(p);
            if (other.seconds[at] > 0) add(static_cast<Phase>(p), other.starts[at], other.seconds[at]);
        }
    }

    // Runs `work` and adds its time to the phase. `began` is the start of the run by steadySeconds().
    template <class Work>
    auto time(Phase phase, double began, Work&& work)
    {
        const double start = steadySeconds();
        auto result = std::forward<Work>(work)();
        add(phase, start - began, steadySeconds() - start);
        return result;
    }
};

}  // namespace hopscope::executor
