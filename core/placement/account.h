#pragma once

// Accounts for the costs of any plan, value by value, so that plans from different sources can be compared.

#include <map>
#include <vector>

#include "placement/cost_model.h"
#include "plan/plan.h"

namespace hopscope::placement {

struct ValueAccount {
    double write = 0, read = 0,
           compute = 0;  // in the unit of the cost model; `compute`: of the operator, for its first result
    std::vector<plan::StageId> stages;  // the stages that compute it, ascending
    [[nodiscard]] double total() const { return write + read + compute; }
    bool operator==(const ValueAccount&) const = default;
};

struct Account {
    std::map<plan::ValueId, ValueAccount> values;
    double structure = 0;  // reading the relations of gathers, and values that follow from the graph alone
    double stages = 0;     // fixed costs of the loops, without their work
    [[nodiscard]] double total() const;
};

// Returns the costs of a plan.
Account accountOf(const analysis::Analysis& analysis, const CostModel& costs, const plan::Plan& plan);

// Returns the total cost of each stage.
std::vector<double> stageCosts(const analysis::Analysis& analysis, const CostModel& costs, const plan::Plan& plan);

}  // namespace hopscope::placement
