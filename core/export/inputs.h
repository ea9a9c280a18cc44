#pragma once

// Private to export: checks whether data fit an exported split, with the messages of run.py.

#include "base/tensor.h"
#include "schema/split.h"

namespace hopscope::exporter {

// The inputs, and the elements of the sizes of sparse matrices as inputs of their own, as splits name them: "adj.coo_size.0".
base::TensorMap withSizes(const base::TensorMap& inputs);

// Fails with Input, naming the first input that is missing or has a different dtype or shape; a dimension that several
// inputs share has the same size in all of them.
base::Status checkInputs(const schema::Split& split, const base::TensorMap& inputs);

}  // namespace hopscope::exporter
