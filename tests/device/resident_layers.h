#pragma once

// Two layers of convolutions (make_convolutions.py) with all tables and adjacencies on a GPU, and what they copy there.

#include <set>
#include <string>
#include <vector>

#include "device_runs.h"

namespace hopscope::device_tests {

// The values that operators compute and whose rows are gathered along edges.
std::set<ir::ValueId> gathered(const analysis::Analysis& analysis);
// With a store for all that is gathered, and everything resident that a GPU can keep.
Subject resident(const Subject& s);

struct Edges {
    std::int64_t count = 0, pieces = 0;  // of the destinations with many edges
};

Edges countEdges(const base::TensorMap& inputs, bool selfLoops);

// What both layers of a convolution derive from the graph alone, and copy once.
struct Layer {
    std::string name;
    bool selfLoops = false;  // each node has one
    int edgeValues = 0;      // numbers for each edge: weights
    int nodeValues = 0;      // numbers for each node: degrees, for means and scalers
};

inline const std::vector<Layer> layers{{"sage", false, 0, 1}, {"gcn", true, 1, 0},          {"gat", true, 0, 0},
                                       {"gatv2", true, 0, 0}, {"transformer", false, 0, 0}, {"resgated", false, 0, 1},
                                       {"gine", false, 0, 0}, {"edgeconv", false, 0, 0},    {"pna", false, 0, 2}};

// Features, parameters, columns, offsets, pieces of hubs, and the values of the layer: each once.
std::int64_t bytesUp(const Subject& s, const Layer& layer);

}  // namespace hopscope::device_tests
