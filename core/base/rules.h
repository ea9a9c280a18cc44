#pragma once

// Lists the strategies that are rules. Code that handles each of them (pricing, comparing, describing) uses this list,
// so that it also covers new rules.

#include <algorithm>
#include <array>

#include "base/choices.h"

namespace hopscope::base {

// The rules in the order of namesOf(Strategy).
inline constexpr auto rules = [] {
    constexpr auto named = namesOf(Strategy());
    constexpr auto count = std::ranges::count_if(named, isRule, &Named<Strategy>::value);
    std::array<Strategy, static_cast<std::size_t>(count)> found{};
    std::size_t next = 0;
    for (const Named<Strategy>& each : named)
        if (isRule(each.value)) found.at(next++) = each.value;
    return found;
}();

// The strategies that a plan is compared with: the optimum, then the rules.
inline constexpr auto references = [] {
    std::array<Strategy, rules.size() + 1> found{Strategy::Optimal};
    std::ranges::copy(rules, found.begin() + 1);
    return found;
}();

}  // namespace hopscope::base
