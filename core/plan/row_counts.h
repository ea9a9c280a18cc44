#pragma once

// The numbers of rows that the loops of a plan process, counted in the graph. A cost model multiplies them by bytes per
// row.

#include <map>
#include <utility>

#include "ir/rows.h"

namespace hopscope::plan {

struct RowCounts {
    std::map<ir::SpaceId, double> tables;  // rows of each table
    // Frontier rows of type `second` in a loop over destinations of type `first`, summed over its batches and averaged
    // over all loops that have such a frontier.
    std::map<std::pair<ir::SpaceId, ir::SpaceId>, double> frontiers;
    std::map<ir::SpaceId, double> batches;  // in a loop over destinations of this type, averaged over these loops
    int tiledLoops = 0;                     // loops in tiles, which stay in the caches of a CPU

    bool operator==(const RowCounts&) const = default;
};

}  // namespace hopscope::plan
