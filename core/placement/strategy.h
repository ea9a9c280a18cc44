#pragma once

// From an analysis to a plan. A plan is decided by its stored values: everything else follows from the dep table.

#include <set>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "base/result.h"
#include "plan/plan.h"

namespace hopscope::placement {

enum class Strategy : std::uint8_t { Depth, SourceRule };

base::Result<Strategy> parseStrategy(const std::string& name);  // "depth", "source-rule"; Usage otherwise
const char* strategyName(Strategy strategy);

// The plan of a strategy. Fails with Unsupported, naming operator, module path and source, if the model cannot be split.
base::Result<plan::Plan> makePlan(const analysis::Analysis& analysis, Strategy strategy);

// The values that a strategy stores. Fails as makePlan does.
base::Result<std::set<plan::ValueId>> strategyStores(const analysis::Analysis& analysis, Strategy strategy);

// The plan that stores exactly `stored` (outputs are always stored), each value computed in the earliest stage that this
// allows and recomputed wherever it is not stored; or, with Unsupported, the reason why it is not legal: which value is
// wanted on which rows and is neither stored nor computable there. Values that no later stage reads are not stored after
// all. `read` (part of `stored`) holds values that every consumer reads from the store, in a later stage than the one
// that makes them.
base::Result<plan::Plan> evaluate(const analysis::Analysis& analysis, const std::set<plan::ValueId>& stored,
                                  const std::set<plan::ValueId>& read = {});

}  // namespace hopscope::placement
