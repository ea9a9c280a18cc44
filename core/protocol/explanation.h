#pragma once

// The reasons for a plan: the costs and savings of every decision, and the differences from the rules, value by value.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.h"
#include "base/result.h"
#include "protocol/model.h"
#include "json/json.h"

namespace hopscope::protocol {

struct Decision {
    base::DecisionKind kind = base::DecisionKind::Stored;
    ValueId value;
    std::vector<StageId> stages;
    double write = 0, read = 0, compute = 0;   // in the explanation's unit
    bool possible = false;                     // some legal plan decides otherwise
    std::optional<double> alternative, saves;  // the best such plan's cost; its extra cost
    [[nodiscard]] double cost() const { return write + read + compute; }
};

// One value on which two plans differ; [0] is the plan that was asked for, [1] the rule's.
struct ValueDifference {
    ValueId value;
    std::array<double, 2> cost{}, written{}, read{};  // in the unit; bytes; bytes
    std::array<std::vector<StageId>, 2> stages;       // that compute it
};

struct PlanComparison {
    base::Strategy strategy = base::Strategy::Depth;  // a rule
    std::optional<double> cost, seconds;
    double d2h = 0, h2d = 0, structure = 0;  // bytes
    std::vector<ValueDifference> values;     // the greatest difference first
};

struct Explanation {
    base::Unit unit = base::Unit::Seconds;
    double cost = 0;
    std::vector<Decision> decisions;
    std::vector<PlanComparison> against;
    [[nodiscard]] const Decision* decisionOn(ValueId value) const;  // null: none; linear
};

// The result of plan/explain. Fails with Input and a JSON pointer.
base::Result<Explanation> readExplanation(const json::Value& result, const ModelRecord& model);

}  // namespace hopscope::protocol
