#pragma once

// Private to executor: how the loops of a run may be tiled, by its options.

#include <optional>

#include "executor/session.h"
#include "executor/tiles.h"

namespace hopscope::executor {

// None on a GPU. `budget`: as for runLoop().
std::optional<TilingRequest> tilingOf(const Session& session, double budget);

}  // namespace hopscope::executor
