#pragma once

// Two implementations of GraphSAGE (mean over in-neighbours, root weight, ReLU between layers): a TorchScript file, and
// plain C++ in double precision, which shares no code with the rest of Hopscope. The latter verifies all rows of the
// former's results on graphs of any size.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hopscope::bench {

struct SageShape {
    std::int64_t features = 100, hidden = 128, outputs = 47;
    int layers = 3;
    std::uint64_t seed = 1;
};

// Writes the module to `modelPath` (forward(x, edge_index)) and its weights to `weightsPath` (.safetensors, by dotted
// name). The same shape and seed give the same weights everywhere.
base::Status writeSageModel(const SageShape& shape, const std::string& modelPath, const std::string& weightsPath);

// Evaluates the model in float64 on `x` and `edge_index` of the data arguments and writes the result, [N, outputs], to
// a .npy file. Hidden layers are kept in scratch files in `folder`, so that anonymous memory does not depend on the
// size of the graph. Takes time linear in the number of edges times the width.
base::Status evaluateSage64(const std::vector<std::string>& data, const std::string& weightsPath,
                            const std::string& output, const std::string& folder, int threads);

}  // namespace hopscope::bench
