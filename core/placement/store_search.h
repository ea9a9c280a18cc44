#pragma once

// Private to placement: the cheapest plan by trying sets of stores, for models that the abstract placement problem does not
// express or has no plan for: a value is made on the rows of one partition class there, a gather runs in one stage, and a
// store is read on the rows that it was written on. Rows that are sources and destinations of messages at once, such as
// edges in a line graph, or clusters, ask for more; what a legal plan is, `evaluate` knows.

#include <stop_token>

#include "placement/cost_model.h"
#include "placement/strategy.h"

namespace hopscope::placement {

struct SearchLimits {
    double deadlineSeconds = 10;  // then the best plan so far
    std::optional<int> stages;    // at most
    std::stop_token stop;
};

// Of up to eight values that may be stored all sets are tried. Otherwise it goes downhill from the cheaper rule: one store more
// or less, or moved to an operand or a consumer, until nothing is cheaper. The plan has its cost, as `stageCosts` counts it,
// and no bound. Each try is linear in the program. Fails with Unsupported where no rule has a plan of so few stages (as
// `makePlan` does), and with Cancelled.
base::Result<plan::Plan> searchStores(const analysis::Analysis& analysis, const CostModel& costs,
                                      const SearchLimits& limits);

}  // namespace hopscope::placement
