#pragma once

// Names for people: modules instead of operators, tables instead of derived row spaces.

#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "plan/plan.h"

namespace hopscope::pipeline {

// What a stage computes, in execution order, without repetitions: "convs.0 SAGEConv", "relu". What an earlier stage
// has computed already, on other rows, comes apart from it.
struct StageLabels {
    std::vector<std::string> first, again;
    bool operator==(const StageLabels&) const = default;
};

// Per stage of the plan. The names are as short as still tells the stages apart.
std::vector<StageLabels> stageLabels(const analysis::Analysis& analysis, const plan::Plan& plan);

// The modules of a list of operators: "conv1", "conv2".
std::vector<std::string> opLabels(const analysis::Analysis& analysis, const std::vector<ir::OpId>& ops);

// "edge_index + self-loops", "part of node".
std::string tableLabel(const analysis::Analysis& analysis, analysis::SpaceId id);

// "[node, 16] float32".
std::string shapeLabel(const analysis::Analysis& analysis, ir::ValueId id);

std::string join(const std::vector<std::string>& parts, const std::string& separator, std::size_t limit = 1000);

}  // namespace hopscope::pipeline
