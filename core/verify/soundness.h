#pragma once

// Decides whether a model computes the same results on the neighbourhood of a node as on the whole graph.

#include <optional>
#include <string>

#include "analysis/analysis.h"
#include "verify/structure.h"

namespace hopscope::verify {

// Returns a sentence with the reason why it does not, which names the operator; nullopt if it does. Reasons are
// reductions over all rows, pooling over graphs, table sizes or row numbers that are used as numbers (embeddings of
// ids), and weights with a row for each node. Others are operators of the prologue that depend on the whole graph, and
// outputs without rows or on derived tables.
std::optional<std::string> sampledObstacle(const analysis::Analysis& analysis, const Structure& structure);

}  // namespace hopscope::verify
