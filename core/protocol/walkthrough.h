#pragma once

// How the rules and the optimum come to their plans, step by step, as a client reads it.

#include <optional>
#include <string>
#include <vector>

#include "base/choices.h"
#include "base/result.h"
#include "base/walk_kind.h"
#include "protocol/model.h"
#include "json/json.h"

namespace hopscope::protocol {

struct MovedOp {
    OpId op;
    std::vector<StageId> stages;  // that compute it from now on; empty: none does
};

struct WalkStep {
    base::WalkKind kind = base::WalkKind::Label;
    std::vector<MovedOp> moved;
    std::optional<ValueId> stored;  // of a Store
};

struct Walkthrough {
    base::Strategy strategy = base::Strategy::Depth;
    std::vector<WalkStep> steps;
};

// The minimum cut.
struct ColouringRecord {
    double cost = 0;  // in the unit of the answer
    std::vector<ValueId> stored;
    std::optional<std::string> missing;  // why it is no plan; none: it is one
};

struct Walkthroughs {
    base::Unit unit = base::Unit::Seconds;
    std::vector<Walkthrough> ways;
    std::optional<ColouringRecord> colouring;
};

// The result of plan/steps. Fails with Input and a JSON pointer.
base::Result<Walkthroughs> readWalkthroughs(const json::Value& result, const ModelRecord& model);

}  // namespace hopscope::protocol
