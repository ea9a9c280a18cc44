#pragma once

// Runs stages.pt by its schema, with all destinations of a loop as one batch. This code implements
// docs/guides/exporting.md independently, and thereby checks whether exported code computes the right results.

#include "base/tensor.h"
#include "loader/loader.h"
#include "schema/split.h"

namespace hopscope::exporter {

// Returns the outputs by name, for inputs by their data keys. The inputs may be a part of a graph, as `extent` states.
// Meant for small graphs: all values are in memory, on the CPU. Fails with Internal if the code fails or the schema
// does not describe it, and with Input if an input is missing or does not match the schema, or if the code refuses the
// graph.
base::Result<base::TensorMap> rerun(const std::string& path, const schema::Split& split, const base::TensorMap& inputs,
                                    loader::Extent extent);

}  // namespace hopscope::exporter
