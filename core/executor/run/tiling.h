#pragma once

// Private to executor: determines from a run's options what its loops fuse, and how they may be tiled.

#include <optional>

#include "executor/loop/tiles.h"
#include "executor/session/session.h"

namespace hopscope::executor {

// Returns the patterns that are fused; for the debugger, which shows every operator, none.
Families familiesOf(const Session& session);

// Returns how loops are tiled; nullopt on a GPU. `budget` has the same meaning as for runLoop().
std::optional<TilingRequest> tilingOf(const Session& session, double budget);

}  // namespace hopscope::executor
