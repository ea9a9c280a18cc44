#pragma once

#include "base/names.h"
#include "ir/program.h"

namespace hopscope::ir {

// Returns the names that documents use for the origins of values.
constexpr auto namesOf(Origin)
{
    return std::to_array<base::Named<Origin>>({{Origin::Input, "input"},
                                               {Origin::Parameter, "parameter"},
                                               {Origin::Constant, "constant"},
                                               {Origin::Op, "op"}});
}

}  // namespace hopscope::ir
