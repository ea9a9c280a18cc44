#pragma once

// Names for people: modules instead of operators, tables instead of derived row spaces.

#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "plan/plan.h"

namespace hopscope::engine {

// What each stage of a plan computes, in execution order, without repetitions: "convs.0 SAGEConv", "relu". The names
// are as short as still tells the stages apart.
std::vector<std::vector<std::string>> stageLabels(const analysis::Analysis& analysis, const plan::Plan& plan);

// The same for a list of operators.
std::vector<std::string> opLabels(const analysis::Analysis& analysis, const std::vector<ir::OpId>& ops);

// "edge_index + self-loops", "part of node".
std::string tableLabel(const analysis::Analysis& analysis, analysis::SpaceId id);

// "[node, 16] float32".
std::string shapeLabel(const analysis::Analysis& analysis, ir::ValueId id);

// "conv1", "relu": where a value comes from.
std::string originLabel(const analysis::Analysis& analysis, ir::ValueId id);

std::string join(const std::vector<std::string>& parts, const std::string& separator, std::size_t limit = 1000);

}  // namespace hopscope::engine
