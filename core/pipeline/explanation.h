#pragma once

// Explains a plan: the cost of each decision and of its alternative, and the differences from the plans of the rules.

#include "optimiser/explain.h"
#include "pipeline/planner.h"
#include "placement/account.h"
#include "json/json.h"

namespace hopscope::pipeline {

struct Decision {
    base::DecisionKind kind = base::DecisionKind::Stored;
    plan::ValueId value;
    std::vector<plan::StageId> stages;        // that read it, compute it or run it
    double write = 0, read = 0, compute = 0;  // of the value
    bool possible = true;                     // false: no legal plan decides otherwise
    std::optional<double> alternative;        // the cost of the best plan found that decides otherwise
    std::optional<double> saves;              // alternative - the plan's cost
};

struct Difference {  // of the plan and a rule's
    plan::ValueId value;
    placement::ValueAccount own, other;
    std::int64_t ownWritten = 0, otherWritten = 0, ownRead = 0, otherRead = 0;  // bytes over the run
};

struct Comparison {
    base::Strategy strategy = base::Strategy::Depth;  // the rule
    double cost = 0, seconds = 0;
    plan::Bytes bytes;
    std::vector<Difference> values;  // the greatest difference of costs first
};

struct Explanation {
    base::Unit unit = base::Unit::Seconds;
    double cost = 0;
    std::vector<Decision> decisions;  // none where a rule made the plan
    std::vector<Comparison> against;  // the rules that have a plan
};

// `answer` is what planFor returned for the request. Each decision takes a small solve, all of them `deadline` seconds
// at most. Expects data. Fails with Unsupported without data, with Cancelled, and as prediction does.
base::Result<Explanation> explainPlan(const Planning& planning, const PlanAnswer& answer);

// The answer to plan/explain.
json::Value explanationValue(const Explanation& explanation);

}  // namespace hopscope::pipeline
