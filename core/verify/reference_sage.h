#pragma once

// GraphSAGE (mean of in-neighbours, root weight, relu between layers) twice: as a TorchScript file, and as plain C++ in
// double precision that shares no code with the rest. The second judges the first, on every row, at any size.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hopscope::verify {

struct SageShape {
    std::int64_t features = 100, hidden = 128, outputs = 47;
    int layers = 3;
    std::uint64_t seed = 1;
};

// Writes the module to `modelPath` (forward(x, edge_index)) and its weights to `weightsPath` (.safetensors, by dotted name).
// The same shape and seed give the same weights everywhere.
base::Status writeSageModel(const SageShape& shape, const std::string& modelPath, const std::string& weightsPath);

// Evaluates it on the `x` and `edge_index` of the data arguments in float64 and writes [N, outputs] to a .npy file. Hidden
// layers live in scratch files of `folder`; anonymous memory does not grow with the graph. Linear in edges x width.
base::Status evaluateSage64(const std::vector<std::string>& data, const std::string& weightsPath,
                            const std::string& output, const std::string& folder, int threads);

}  // namespace hopscope::verify
