#pragma once

// The number of rows that the loops of a plan work on, from the graph: a cost model multiplies bytes per row by it.

#include <map>
#include <utility>

#include "ir/rows.h"

namespace hopscope::plan {

struct RowCounts {
    std::map<ir::SpaceId, double> tables;  // rows of each table
    // Frontier rows of type `second` in the loops over destinations of type `first`, summed over the batches of a loop;
    // the mean of the loops that have such a frontier.
    std::map<std::pair<ir::SpaceId, ir::SpaceId>, double> frontiers;
    std::map<ir::SpaceId, double> batches;  // of a loop over destinations of this type

    bool operator==(const RowCounts&) const = default;
};

}  // namespace hopscope::plan
