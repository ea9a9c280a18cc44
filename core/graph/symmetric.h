#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "graph/chunks.h"
#include "graph/edge_draw.h"

namespace hopscope::graph {

// Returns the directed edges of a symmetric graph as destination * nodes + source, in ascending order: both directions
// of distinct pairs, without self-loops, with ids shuffled by `options.seed`. Takes 16 bytes per directed edge.
base::Result<std::vector<std::uint64_t>> drawSymmetric(const GenerateOptions& options, const EdgeDraw& draw,
                                                       const Work& work);

}  // namespace hopscope::graph
