#pragma once

// Private to executor: determines from a run's options how its loops may be tiled.

#include <optional>

#include "executor/loop/tiles.h"
#include "executor/session/session.h"

namespace hopscope::executor {

// Returns how loops are tiled; nullopt on a GPU. `budget` has the same meaning as for runLoop().
std::optional<TilingRequest> tilingOf(const Session& session, double budget);

}  // namespace hopscope::executor
