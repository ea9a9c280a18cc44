#pragma once

#include <cstdint>

#include "base/names.h"

namespace hopscope::base {

// The order in which a CPU computes nodes. Results are always in the order of the input.
enum class Reorder : std::uint8_t {
    Auto,       // by community, if results stay the same and this is estimated to save more time than it takes
    None,       // the order of the input
    Rcm,        // reverse Cuthill-McKee
    Degree,     // by descending degree
    Community,  // community by community
};

constexpr auto namesOf(Reorder)
{
    return std::to_array<Named<Reorder>>({{Reorder::Auto, "auto"},
                                          {Reorder::None, "none"},
                                          {Reorder::Rcm, "rcm"},
                                          {Reorder::Degree, "degree"},
                                          {Reorder::Community, "community"}});
}

}  // namespace hopscope::base
