#pragma once

// Names the steps of the walkthrough of a plan (placement/walkthrough.h).

#include <cstdint>

#include "base/names.h"

namespace hopscope::base {

enum class WalkKind : std::uint8_t {
    Label,   // every operator gets the stage in which it starts, such as that of its depth
    Pull,    // a cut is moved towards the inputs
    Settle,  // operators move to the stages that need them, or are computed in several
    Store,   // a value is stored
};

constexpr auto namesOf(WalkKind)
{
    return std::to_array<Named<WalkKind>>({{WalkKind::Label, "label"},
                                           {WalkKind::Pull, "pull"},
                                           {WalkKind::Settle, "settle"},
                                           {WalkKind::Store, "store"}});
}

}  // namespace hopscope::base
