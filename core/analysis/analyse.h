#pragma once

#include "analysis/analysis.h"
#include "analysis/roles/roles.h"

namespace hopscope::analysis {

// Raw program -> functional program with row spaces, uses, depth and lints. Linear in the number of operators, apart
// from views replayed after in-place writes. A model that cannot be split gives an Analysis whose `refusal` is set and
// whose last lint is blocking; only a broken program (a dangling id) fails.
Analysis analyse(const ir::Program& raw, const InputSchema& schema);

}  // namespace hopscope::analysis
