#pragma once

// Private to analysis.

#include "ir/program.h"

namespace hopscope::analysis {

// Rewrites two forms of a look-up by a table of neighbours [N, K] to a plain x[table]:
//   x[table.view(-1)].view(N, K, ..)                       rows and neighbours are never one dimension
//   cat([x, row])[table] and cat([row, x])[table]          a look-up in x, and a choice between its rows and the other
// Only sound on functional programs. Linear in the operators.
ir::Program simplifyTables(const ir::Program& program);

}  // namespace hopscope::analysis
