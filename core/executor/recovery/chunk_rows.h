#pragma once

// Private to executor: checks and takes over the rows of a chunk that an earlier or another process has computed.

#include <set>

#include "executor/session/session.h"

namespace hopscope::executor {

// Returns whether the rows of `values` match the chunk's digests. Reads all of these rows; the stores of the chunk must
// exist.
bool isIntact(Session& session, const LoopProgram& program, const Chunk& chunk, const std::set<ir::ValueId>& values);

// Counts the rows of `values` as written.
void adopt(Session& session, const LoopProgram& program, const Chunk& chunk, const std::set<ir::ValueId>& values);

}  // namespace hopscope::executor
