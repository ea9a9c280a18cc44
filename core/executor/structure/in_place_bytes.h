#pragma once

// Private to executor: the bytes of tables that loops read in place.

#include <cstdint>
#include <map>

#include "executor/program/loop_program.h"
#include "executor/structure.h"

namespace hopscope::executor {

// Returns the bytes of the tables that tiles read in place. Each counts once per loop, because nothing is copied.
std::map<ir::ValueId, std::int64_t> inPlaceBytes(const analysis::Analysis& analysis, Structure& structure,
                                                 const LoopProgram& program);

}  // namespace hopscope::executor
