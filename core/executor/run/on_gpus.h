#pragma once

// Private to executor: computes loops on one or several GPUs.

#include "executor/loop/loop.h"
#include "executor/loop/prologue.h"
#include "executor/session/gpus.h"

namespace hopscope::executor {

// Loads the tables that stay on the session's device, and adds the bytes copied. Where tables take much of a GPU's memory,
// the allocator gives back what batches have left: a table that was put into a part of it would keep the whole. Returns
// the bytes that it reserves for tables in vain.
double loadResidents(Session& session, const LoopProgram& program, double budget, plan::Bytes& copied);

// Runs a loop on all GPUs (runLoop). Each one computes some of the tiles (dealTiles); tables are on all of them. Rows
// that stay on a GPU are copied to the others, by peer access, or from the stores where it is missing. Returns
// the bytes of tables that were copied.
plan::Bytes runOnGpus(Session& session, Gpus& gpus, const LoopProgram& program, LoopBooks& books,
                      const LoopShare& share, double budget);

// From now on, values whose rows are not copied from GPU to GPU are written to stores of the host as well. Call it before
// any loop.
void writeWhatIsNotSent(Gpus& gpus, const StagePrograms& programs);

// Copies a value without rows from the first GPU to the others.
void shareWhole(Session& session, Gpus& gpus, ir::ValueId value);

// Returns how much of the copying since the last call happened during computation, on average over the GPUs; nullopt if
// nothing was copied or computed. `gpus` is nullptr if there are not several.
std::optional<double> takeOverlap(Session& session, Gpus* gpus);

}  // namespace hopscope::executor
