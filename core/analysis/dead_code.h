#pragma once

// Private to analysis.

#include "ir/program.h"

namespace hopscope::analysis {

// Drops the operators (and operator values) that neither an output nor a guard needs, and renumbers densely in order.
// Only sound on functional programs.
ir::Program removeDead(const ir::Program& program);

}  // namespace hopscope::analysis
