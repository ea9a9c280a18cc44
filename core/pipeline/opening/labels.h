#pragma once

// Makes readable names from modules instead of operators, and from tables instead of derived row spaces.

#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "plan/plan.h"

namespace hopscope::pipeline {

// The names that opLabels() gives to a stage's operators, with the classes of modules, and with longer paths if
// necessary: "convs.0 SAGEConv", "relu". `again` names operators that an earlier stage has already computed, without
// their classes, and without names that `first` contains.
struct StageLabels {
    std::vector<std::string> first, again;
    bool operator==(const StageLabels&) const = default;
};

// Returns labels for each stage of the plan. The names are as short as possible while labels of neighbouring stages
// still differ; if they do not differ at any length, the names are short.
std::vector<StageLabels> stageLabels(const analysis::Analysis& analysis, const plan::Plan& plan);

// Returns the modules of a list of operators, and the names of operators outside of modules, except views, sizes and
// index arithmetic; without repetitions: "conv1", "relu".
std::vector<std::string> opLabels(const analysis::Analysis& analysis, const std::vector<ir::OpId>& ops);

// Returns the readable name of a table: "edge_index + self-loops", "part of node".
std::string tableLabel(const analysis::Analysis& analysis, analysis::SpaceId id);

// Returns the shape and dtype of a value: "[node, 16] float32".
std::string shapeLabel(const analysis::Analysis& analysis, ir::ValueId id);

std::string join(const std::vector<std::string>& parts, const std::string& separator, std::size_t limit = 1000);

}  // namespace hopscope::pipeline
