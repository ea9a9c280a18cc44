#pragma once

// Private to analysis.

#include "ir/program.h"

namespace hopscope::analysis {

// Removes a row that is put in front of others, as in PyG's coalesce, which compares each key with the one before it:
//   front = empty(n + 1), front[0] = c, front[1:] = keys;  front[1:]               ->  keys
//                                                          front[1:] > front[:-1]  ->  diff(keys, prepend=[c]) > 0
// for 64-bit integers, so that no tensor has one row more than the table of the keys.
// Only sound on functional programs. Linear in the operators, times the writes into one front.
ir::Program dropFronts(const ir::Program& program);

}  // namespace hopscope::analysis
