#pragma once

// Private to executor, and to forecast: divides the loops of a run with a journal on a GPU, or of one on several GPUs, into tiles. A batch
// is a tile. The sizes of products, and with them the last bits of results, then do not depend on where a run was
// interrupted, which process or GPU computes a tile, or how much memory is free.

#include "executor/loop/prologue.h"

namespace hopscope::executor {

// Determines the tiles of all loops, from the plan, the graph and `budget` alone, which is the number of bytes that a
// tile may take on the device. A tile has as many destinations as the user has chosen for a batch; by default 64, 128,
// 256 or so on, as many as fit into the budget and, on average, into a slot of the ring (staging.h). It has more than
// 8,192 only if the loop has at least 16 tiles. Linear in the destinations.
void tileOnGpu(Session& session, StagePrograms& programs, double budget);
// The same without a session, for forecasts. `choice` is that of a run with a journal, `batch` the user's.
void tileOnGpu(const analysis::Analysis& analysis, Structure& structure, const ResidentChoice& choice,
               StagePrograms& programs, std::optional<std::int64_t> batch, double budget);

}  // namespace hopscope::executor
