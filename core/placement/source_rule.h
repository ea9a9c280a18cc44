#pragma once

// Private to placement: the strategy `source-rule`, on depth_module and after the prologue is taken out.

#include <map>
#include <set>
#include <vector>

#include "analysis/analysis.h"

namespace hopscope::placement {

// The steps of the rule, in order. Labels are its t_i: stages from 1 on, and 0 for values that depend on inputs alone.
struct SourceRule {
    using Labels = std::map<ir::OpId, int>;
    Labels labels;              // before the first pull: d_i
    std::vector<Labels> pulls;  // of each cut that moved: its operators, with their new label
    std::set<ir::ValueId> stored;
};

// t_i = d_i; then every cut is pulled towards the parents until a node with several parents, an input, a message-passing
// node, or a parent whose consumers differ in t.
SourceRule traceSourceRule(const analysis::Analysis& analysis);

// The values that cross from one t_i to a later one in the end.
std::set<ir::ValueId> sourceRuleCut(const analysis::Analysis& analysis);

}  // namespace hopscope::placement
