#pragma once

// Private to placement: the rules, step by step.

#include <map>
#include <set>
#include <vector>

#include "analysis/analysis.h"
#include "base/choices.h"

namespace hopscope::placement {

// The steps of a rule, in order, without the operators of the prologue. Labels are stages from 1 on, and 0 for values
// that depend on inputs alone.
struct RuleTrace {
    using Labels = std::map<ir::OpId, int>;
    Labels labels;                   // before the first pull
    std::vector<Labels> pulls{};     // for each cut that moved, the operators with new labels
    std::set<ir::ValueId> stored{};  // in the end, if the labels decide it
};

// Traces a strategy. An optimum has the labels of the depth, with which its walkthrough begins.
RuleTrace traceOf(const analysis::Analysis& analysis, base::Strategy strategy);

// Traces SourceRule: labels t_i begin as d_i, depth_module. Every cut is then pulled towards the parents until it meets
// a node with several parents, an input, a message-passing node, or a parent with consumers that differ in t. In the
// end, the values are stored whose consumers have a later t_i.
RuleTrace traceSourceRule(const analysis::Analysis& analysis);

}  // namespace hopscope::placement
