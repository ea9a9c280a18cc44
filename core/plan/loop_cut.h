#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "base/describe.h"
#include "plan/stage_id.h"

namespace hopscope::plan {

// The division of a loop into tiles, which affects the last bits of its results.
struct LoopCut {
    StageId stage{1};
    int loop = 1;
    std::optional<std::int64_t> tile{};
    bool operator==(const LoopCut&) const = default;
};

template <std::same_as<LoopCut> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("cut", field("stage", &T::stage, "the stage of the loop"),
                           field("loop", &T::loop, "its number within the stage, from 1", base::Within{1}),
                           field("tile", &T::tile,
                                 "destinations per tile; null for a loop without tiles, whose batches have as many as "
                                 "fit into `batch_bytes`",
                                 base::Within{1}));
}

}  // namespace hopscope::plan
