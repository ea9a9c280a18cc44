#pragma once

// Private to debugger: finds the values that a breakpoint's `place` names, and checks its condition.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/naming/value_names.h"
#include "debugger/debugger.h"
#include "executor/probe.h"

namespace hopscope::debugger {

// Returns the values that `place` names: those of an operator, a value, the name of a value, a kind of operator, or a
// module. An empty `place` stands for the results of all operators.
std::set<ir::ValueId> valuesAt(const analysis::Analysis& analysis, const analysis::ValueNames& names,
                               const std::string& place);
tl::unexpected<base::Error> unknownPlace(const std::string& place);

struct ResolvedBreakpoint {
    Breakpoint breakpoint;
    std::optional<plan::StageId> stage;
    std::set<ir::ValueId> values;  // for a stage: all its values
};

// Resolves breakpoints. Fails with Usage if one of them names neither an operator nor a stage of the plan.
base::Result<std::vector<ResolvedBreakpoint>> resolveBreakpoints(const analysis::Analysis& analysis,
                                                                 const plan::Plan& plan,
                                                                 const std::vector<Breakpoint>& breakpoints);

bool holds(const ResolvedBreakpoint& b, const executor::Probed& result);

}  // namespace hopscope::debugger
