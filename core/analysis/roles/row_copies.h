#pragma once

#include "analysis/roles/sample.h"

namespace hopscope::analysis {

// The graph of the inputs several times beside itself: rows one copy after the other, and edges, keys and offsets that stay
// within their copy. So there is a larger graph of the same kind for each, however small it is.
Sample besideItself(const base::TensorMap& inputs, const InputSchema& schema, std::int64_t copies);

}  // namespace hopscope::analysis
