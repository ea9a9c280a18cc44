#pragma once

// The number of a stage in a plan. Stages count from 1 in plans, documents, messages and texts; 0 means none.

#include <compare>
#include <cstddef>

namespace hopscope::plan {

struct StageId {
    int number = 0;

    constexpr StageId() = default;
    constexpr explicit StageId(int n) : number(n) {}
    // Returns the id of the stage at this position of a list that begins with stage 1.
    [[nodiscard]] static constexpr StageId at(std::size_t position) { return StageId(static_cast<int>(position) + 1); }

    [[nodiscard]] constexpr bool valid() const { return number > 0; }
    constexpr auto operator<=>(const StageId&) const = default;
};

}  // namespace hopscope::plan
