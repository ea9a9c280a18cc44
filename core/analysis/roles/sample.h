#pragma once

#include "analysis/roles/roles.h"
#include "base/result.h"
#include "base/tensor.h"

namespace hopscope::analysis {

// A small induced subgraph of the user's inputs for the sample walk: a few hundred nodes per type, relabelled, input
// order of nodes and edges kept; with self-loops, isolated nodes and duplicate edges where the graph has any; sizes
// chosen to differ from each other and from every feature width; column-major tensors stay so, for it decides what the
// model's views are. At least one edge per non-empty relation and, for keys, every target table's rows renumbered
// without gaps. Linear in the edges.
base::Result<base::TensorMap> cutSample(const base::TensorMap& inputs, const InputSchema& schema,
                                        std::int64_t nodes = 300, std::uint64_t seed = 1);

}  // namespace hopscope::analysis
