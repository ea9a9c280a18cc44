#pragma once

// Returns the step of a sequential palette for a depth, in a model of depth `deepest`. Each depth has a step of its own
// if there are enough; otherwise depths share steps evenly, except that depth 0 has the first step to itself.

#include <algorithm>
#include <utility>

namespace hopscope::style {

inline int depthStep(int depth, int deepest, int steps)
{
    const int last = steps - 1;
    if (depth <= 0 || deepest <= last) return std::clamp(depth, 0, last);
    return std::clamp(1 + (depth - 1) * last / deepest, 1, last);
}

// Returns the first and the last depth of one step; the last is before the first if the step has none.
inline std::pair<int, int> depthsOfStep(int step, int deepest, int steps)
{
    std::pair<int, int> found{1, 0};
    for (int depth = 0; depth <= deepest; ++depth) {
        if (depthStep(depth, deepest, steps) != step) continue;
        if (found.second < found.first) found.first = depth;
        found.second = depth;
    }
    return found;
}

}  // namespace hopscope::style
