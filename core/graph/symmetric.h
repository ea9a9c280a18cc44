#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "graph/chunks.h"
#include "graph/edge_draw.h"

namespace hopscope::graph {

// A symmetric graph's directed edges as destination * nodes + source, ascending: both directions of distinct pairs, no
// self-loops, ids shuffled by `options.seed`. Takes 16 bytes per directed edge while it sorts.
base::Result<std::vector<std::uint64_t>> drawSymmetric(const GenerateOptions& options, const EdgeDraw& draw,
                                                       const Work& work);

}  // namespace hopscope::graph
