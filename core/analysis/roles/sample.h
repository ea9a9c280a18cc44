#pragma once

#include "analysis/roles/roles.h"
#include "base/result.h"
#include "base/tensor.h"

namespace hopscope::analysis {

// A small induced subgraph of the user's inputs for the sample walk: a few hundred nodes per type, relabelled, input
// order of nodes and edges kept; with self-loops, isolated nodes and duplicate edges where the graph has any; sizes
// chosen to differ from each other and from every feature width; column-major tensors stay column-major, because the
// layout decides which operators of the model give views. At least one edge per non-empty relation and, for keys, every
// target table's rows renumbered without gaps. A table whose rows a weight has is kept whole. Linear in the edges.
base::Result<base::TensorMap> cutSample(const base::TensorMap& inputs, const InputSchema& schema,
                                        std::int64_t nodes = 300, std::uint64_t seed = 1);

// The treatment of numbers in the data from which a model may derive a count
// (int(batch.max()) + 1).
enum class Numbers : std::uint8_t {
    Renumbered,  // omits graphs without a node in the sample
    Largest,     // keeps all graphs, and for each column of numbers a row with the largest one
    Smaller,     // as Renumbered, but omits rows with the largest number of a column if there are others
};

struct SampleOptions {
    std::int64_t nodes = 300;  // at most this number of a type
    std::uint64_t seed = 1;
    double share = 1;  // at most this share of the rows of a type
    Numbers numbers = Numbers::Renumbered;
};

struct Sample {
    base::TensorMap tensors;
    std::map<std::string, std::int64_t> sizes;  // of each table of the schema
};
Sample cutTables(const base::TensorMap& inputs, const InputSchema& schema, const SampleOptions& options);

}  // namespace hopscope::analysis
