#pragma once

#include "analysis/roles/sample.h"

namespace hopscope::analysis {

// Returns the disjoint union of several copies of the graph, for graphs that are too small to take a sample from. The
// rows of each copy follow those of the one before it; edges, keys and offsets stay within their copy.
Sample disjointCopies(const base::TensorMap& inputs, const InputSchema& schema, std::int64_t copies);

}  // namespace hopscope::analysis
