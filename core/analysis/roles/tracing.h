#pragma once

// What a model in memory is traced on before it is a file: samples of its data in several sizes.

#include <vector>

#include "analysis/roles/sample.h"

namespace hopscope::analysis {

struct TracingSample {
    base::TensorMap tensors;
    std::map<std::string, std::int64_t> sizes;  // of each table of the schema
    bool whole = false;                         // it is the data as they are
};

// Four of them: the first, which is the data themselves where they are as small; a second, from whose trace sizes differ
// that the first trace has baked in; another one, to compare the file on; and one with smaller numbers, while the others have the
// largest ones of the data. All differ in their sizes as far as the data can be cut or, if they are tiny, put beside
// themselves. Linear in the edges.
std::vector<TracingSample> tracingSamples(const base::TensorMap& inputs, const InputSchema& schema);

}  // namespace hopscope::analysis
