#pragma once

// Runs stages.pt by its schema, with every loop as one batch of all destinations. It follows docs/guides/exporting.md
// independently, and thereby checks whether the exported code computes the right results.

#include "base/tensor.h"
#include "loader/loader.h"
#include "schema/split.h"

namespace hopscope::exporter {

// The outputs by name, for inputs by their data keys, which may be those of a part of a graph. For small graphs: everything is
// in memory, on the CPU. Fails with Internal if the code fails or the schema does not describe it, with Input if an input is
// missing or does not fit.
base::Result<base::TensorMap> rerun(const std::string& path, const schema::Split& split, const base::TensorMap& inputs,
                                    loader::Extent extent);

}  // namespace hopscope::exporter
