#pragma once

// Whether the model on an induced neighbourhood gives what it gives on the whole graph.

#include <optional>
#include <string>

#include "analysis/analysis.h"
#include "verify/structure.h"

namespace hopscope::verify {

// Why it does not, as a sentence naming the operator: reductions over all rows, pooling into graph rows, numbers that are
// sizes of tables, row numbers used as numbers (embeddings of ids), weights with one row per node, prologue operators
// that see the whole structure, outputs without rows or on selected rows.
std::optional<std::string> sampledObstacle(const analysis::Analysis& analysis, const Structure& structure);

}  // namespace hopscope::verify
