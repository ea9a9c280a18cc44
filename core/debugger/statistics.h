#pragma once

// Private to debugger: computes statistics of the numbers of a tensor.

#include <ATen/core/Tensor.h>

#include "schema/tensor.h"

namespace hopscope::debugger {

// Computes statistics in pieces of constant memory. Means and deviations have double precision. The bins of the
// histogram are those of numpy.histogram, with edges at least + i (most - least) / histogramBins.
schema::Statistics statisticsOf(const at::Tensor& tensor);

}  // namespace hopscope::debugger
