#pragma once

#include "analysis/roles/roles.h"
#include "base/result.h"
#include "base/tensor.h"

namespace hopscope::analysis {

// Extracts a small induced subgraph from the user's inputs for the sample walk, with a few hundred nodes per type.
// Nodes and edges keep their order, and rows are renumbered without gaps. The sample has at least one edge per
// non-empty relation. As far as possible, it has self-loops, isolated nodes and duplicate edges if the graph does, and
// its sizes differ from each other and from every feature width. Column-major tensors remain column-major, because the
// layout decides which operators of the model return views. A table is kept whole if a weight has a row for each of its
// rows.
base::Result<base::TensorMap> cutSample(const base::TensorMap& inputs, const InputSchema& schema,
                                        std::int64_t nodes = 300, std::uint64_t seed = 1);

// Returns the sample with as many rows and columns in its sparse matrices as those of `inputs` have, and with the same
// entries, for models with a weight that has a row for each of these. Empty if there are no sparse matrices.
base::TensorMap withWholeMatrices(base::TensorMap sample, const base::TensorMap& inputs);

// How a sample treats numbers in the data from which a model may derive a count, as in int(batch.max()) + 1.
enum class Numbers : std::uint8_t {
    Renumbered,  // omits graphs without a node in the sample
    Largest,     // keeps all graphs, and a row with the largest number of each column
    Smaller,     // as Renumbered, but omits rows with the largest number of a column if there are others
};

struct SampleOptions {
    std::int64_t nodes = 300;  // at most this number per type, but at least 2, apart from rows that others require
    std::uint64_t seed = 1;
    double share = 1;  // at most this share of the rows of a type, with the same exceptions
    Numbers numbers = Numbers::Renumbered;
};

struct Sample {
    base::TensorMap tensors;
    std::map<std::string, std::int64_t> sizes;  // of each table of the schema
};
// Extracts a sample as cutSample() does, with these options, and also returns its sizes.
Sample cutTables(const base::TensorMap& inputs, const InputSchema& schema, const SampleOptions& options);

}  // namespace hopscope::analysis
