#pragma once

// Runs stages.pt by its schema, with all destinations of a loop as one batch, so that an export can be checked before
// it is published. This code follows docs/guides/exporting.md and shares nothing with run.py.

#include "base/tensor.h"
#include "loader/loader.h"
#include "schema/split.h"

namespace hopscope::exporter {

// Returns the outputs by name, for inputs by their data keys. The inputs may be a part of a graph, as `extent` states.
// Meant for small graphs: all values are in memory, on the CPU. Fails with Input if an input is missing or does not
// match the schema, or if the prologue fails, and with Internal if other code fails or the schema does not describe it.
base::Result<base::TensorMap> rerun(const std::string& path, const schema::Split& split, const base::TensorMap& inputs,
                                    loader::Extent extent);

}  // namespace hopscope::exporter
