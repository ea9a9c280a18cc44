#pragma once

// Decides whether a model gives the same results on the neighbourhood of a node as on the whole graph.

#include <optional>
#include <string>

#include "analysis/analysis.h"
#include "verify/structure.h"

namespace hopscope::verify {

// The reason why it does not, as a sentence that names the operator; nullopt if it does. Reasons are reductions over
// all rows, pooling over graphs, use of table sizes or row numbers as numbers (embeddings of ids), weights with one row
// per node, operators of the prologue that depend on the whole graph, and outputs without rows or on derived tables.
std::optional<std::string> sampledObstacle(const analysis::Analysis& analysis, const Structure& structure);

}  // namespace hopscope::verify
