#pragma once

// Private to receptive: computes the average size of the receptive fields of all nodes.

#include "receptive/levels.h"

namespace hopscope::receptive {

struct ExplosionRequest {
    ir::SpaceId table;
    std::uint64_t seed = 1;
    std::int64_t budget = 0;  // rows and edges to visit
};

// Computes the averages. Raises Cancelled.
schema::FieldExplosion explosion(executor::Structure& structure, const analysis::Analysis& analysis, RowMoves& moves,
                                 Backtrack& backtrack, const ExplosionRequest& request, const std::stop_token& stop);

}  // namespace hopscope::receptive
