#pragma once

// Private to executor: the rows of a chunk that somebody else has computed, another process or an earlier one.

#include <set>

#include "executor/session.h"

namespace hopscope::executor {

// Whether the rows of these values are what the chunk says. Reads them all; its stores must exist.
bool isIntact(Session& session, const LoopProgram& program, const Chunk& chunk, const std::set<ir::ValueId>& values);

// Counts them as written.
void adopt(Session& session, const LoopProgram& program, const Chunk& chunk, const std::set<ir::ValueId>& values);

}  // namespace hopscope::executor
