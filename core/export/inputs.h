#pragma once

// Private to export: checks whether data fit an exported split, with the messages of run.py.

#include "base/tensor.h"
#include "schema/split.h"

namespace hopscope::exporter {

// Returns the inputs, with the sizes of sparse matrices as additional inputs under their names in splits:
// "adj.coo_size.0".
base::TensorMap withSizes(const base::TensorMap& inputs);

// Checks the inputs of an exported split. Fails with Input, naming the first input that is missing or has a different
// dtype or shape. A dimension that several inputs share must have the same size in all of them.
base::Status checkInputs(const schema::Split& split, const base::TensorMap& inputs);

}  // namespace hopscope::exporter
