#pragma once

// The costs of any plan, value by value, so that plans from different sources can be compared.

#include <map>
#include <vector>

#include "placement/cost_model.h"
#include "plan/plan.h"

namespace hopscope::placement {

struct ValueAccount {
    double write = 0, read = 0, compute = 0;  // in the unit of the cost model; an operator is its first result's
    std::vector<plan::StageId> stages;        // the stages that compute it, ascending
    [[nodiscard]] double total() const { return write + read + compute; }
    bool operator==(const ValueAccount&) const = default;
};

struct Account {
    std::map<plan::ValueId, ValueAccount> values;
    double structure = 0;  // of the relations that are gathered along, and values that follow from the graph alone
    double stages = 0;     // fixed costs of the stages, without their work
    [[nodiscard]] double total() const;
};

// Linear in the plan.
Account accountOf(const analysis::Analysis& analysis, const CostModel& costs, const plan::Plan& plan);

// The same stage by stage, in sums.
std::vector<double> stageCosts(const analysis::Analysis& analysis, const CostModel& costs, const plan::Plan& plan);

}  // namespace hopscope::placement
