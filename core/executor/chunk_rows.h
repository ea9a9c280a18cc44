#pragma once

// Private to executor: the rows of a chunk that another process, or an earlier one, has computed.

#include <set>

#include "executor/session.h"

namespace hopscope::executor {

// Whether the rows of these values match the chunk's digests. Reads all of them; the stores of the chunk must exist.
bool isIntact(Session& session, const LoopProgram& program, const Chunk& chunk, const std::set<ir::ValueId>& values);

// Counts them as written.
void adopt(Session& session, const LoopProgram& program, const Chunk& chunk, const std::set<ir::ValueId>& values);

}  // namespace hopscope::executor
