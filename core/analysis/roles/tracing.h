#pragma once

// Takes samples of the data in several sizes, on which a model in memory is traced and scripted.

#include <vector>

#include "analysis/roles/sample.h"

namespace hopscope::analysis {

struct TracingSample {
    base::TensorMap tensors;
    std::map<std::string, std::int64_t> sizes;  // of each table of the schema
    bool whole = false;                         // the sample is all of the data
};

// Returns four samples. The first one is for the first trace, and is all of the data if the tables are small enough. The
// trace of the second differs where the first has a size baked in. On the third, the file is compared with the module.
// The fourth has smaller numbers; the first three contain the largest numbers of the data. Sizes differ as far as the
// data can be divided or, if the tables are tiny, repeated.
std::vector<TracingSample> tracingSamples(const base::TensorMap& inputs, const InputSchema& schema);

}  // namespace hopscope::analysis
