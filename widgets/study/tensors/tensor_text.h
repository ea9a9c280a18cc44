#pragma once

// Formats the texts that describe a tensor.

#include <QString>

#include "schema/tensor.h"

namespace hopscope::study {

// Returns "float32 · 10,000 × 16 · rows of node in the batch · stage 1, all batches".
QString tensorFacts(const schema::TensorSummary& record);
// Returns "min −1.2 · max 3.4 · mean 0.1 · std 0.5 · 3,404 zeros of 160,000 · 0 NaN · 0 infinite".
QString tensorNumbers(const schema::Statistics& statistics);

}  // namespace hopscope::study
