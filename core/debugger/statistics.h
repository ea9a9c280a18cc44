#pragma once

// Private to debugger: statistics of the numbers of a tensor.

#include <ATen/core/Tensor.h>

#include "schema/tensor.h"

namespace hopscope::debugger {

// Reads the tensor in pieces of constant memory. Means and deviations are of double precision; the parts of the
// histogram are those of numpy.histogram, whose edges are least + i (most - least) / histogramBins.
schema::Statistics statisticsOf(const at::Tensor& tensor);

}  // namespace hopscope::debugger
