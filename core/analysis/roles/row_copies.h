#pragma once

#include "analysis/roles/sample.h"

namespace hopscope::analysis {

// The disjoint union of several copies of the graph: a larger graph of the same kind, for graphs that are too small to
// be cut. Rows follow each other copy by copy; edges, keys and offsets stay within their copy.
Sample disjointCopies(const base::TensorMap& inputs, const InputSchema& schema, std::int64_t copies);

}  // namespace hopscope::analysis
