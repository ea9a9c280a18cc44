#pragma once

// Private to placement: searches for the cheapest plan by trying sets of stores, for models that the abstract placement
// problem cannot express or has no plan for. In that problem, a value is computed on the rows of one partition class, a
// gather runs in one stage, and a store is read on the rows on which it was written. Rows that are both sources and
// destinations of messages, such as clusters or the edges of a line graph, need more. `evaluate` decides whether a plan
// is legal.

#include <stop_token>

#include "placement/cost_model.h"
#include "placement/strategy.h"

namespace hopscope::placement {

struct SearchLimits {
    double deadlineSeconds = 10;  // afterwards, the best plan so far is returned
    std::optional<int> stages;    // maximum
    std::stop_token stop;
};

// Tries all sets if at most eight values may be stored. Otherwise it descends from the cheaper rule: it adds or removes
// one store, or moves one to an operand or a consumer, until no such step is cheaper. The plan has a cost, computed by
// `stageCosts`, but no bound. Each try is linear in the program. Fails with Unsupported if no rule has a plan with this
// number of stages (like `makePlan`), and with Cancelled.
base::Result<plan::Plan> searchStores(const analysis::Analysis& analysis, const CostModel& costs,
                                      const SearchLimits& limits);

}  // namespace hopscope::placement
