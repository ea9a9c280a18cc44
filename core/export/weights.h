#pragma once

// Private to export: collects the tensors of the code's attributes.

#include "analysis/analysis.h"
#include "graph/safetensors.h"
#include "loader/loader.h"
#include "schema/split_code.h"

namespace hopscope::exporter {

// Returns the tensors by their names in weights.safetensors. Fails with Unsupported for a tensor that is not strided.
base::Result<base::TensorMap> weightsOf(const loader::Walk& walk, const analysis::Analysis& analysis,
                                        const schema::Code& code);

}  // namespace hopscope::exporter
