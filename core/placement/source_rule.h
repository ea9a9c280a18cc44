#pragma once

// Private to placement: the strategy `source-rule`, which uses depth_module, without the operators of the prologue.

#include <map>
#include <set>
#include <vector>

#include "analysis/analysis.h"

namespace hopscope::placement {

// The steps of the rule, in order. The labels t_i are stages from 1 on, and 0 for values that depend on inputs alone.
struct SourceRule {
    using Labels = std::map<ir::OpId, int>;
    Labels labels;              // before the first pull: d_i
    std::vector<Labels> pulls;  // for each cut that moved, the operators with new labels
    std::set<ir::ValueId> stored;
};

// Traces the rule. Labels begin as t_i = d_i. Every cut is then pulled towards the parents until it meets a node with
// several parents, an input, a message-passing node, or a parent with consumers that differ in t.
SourceRule traceSourceRule(const analysis::Analysis& analysis);

// Returns the values that the rule stores: in the end, their consumers have a later t_i.
std::set<ir::ValueId> sourceRuleCut(const analysis::Analysis& analysis);

}  // namespace hopscope::placement
