#pragma once

// Why a plan is as it is: what every decision costs and saves, and where it differs from the rules, value by value.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/model.h"
#include "json/json.h"

namespace hopscope::protocol {

struct Decision {
    std::string kind;  // "stored", "recomputed", "delayed"
    int value = -1;    // index into ModelRecord::values
    std::vector<int> stages;
    double write = 0, read = 0, compute = 0;   // in the explanation's unit
    bool possible = false;                     // some legal plan decides otherwise
    std::optional<double> alternative, saves;  // the best such plan's cost; what it would cost more
    [[nodiscard]] double cost() const { return write + read + compute; }
};

// One value on which two plans differ; [0] is the plan that was asked for, [1] the rule's.
struct ValueDifference {
    int value = -1;
    std::array<double, 2> cost{}, written{}, read{};  // in the unit; bytes; bytes
    std::array<std::vector<int>, 2> stages;           // that compute it
};

struct PlanComparison {
    std::string strategy;  // "depth", "source-rule"
    std::optional<double> cost, seconds;
    double d2h = 0, h2d = 0, structure = 0;  // bytes
    std::vector<ValueDifference> values;     // the greatest difference first
};

struct Explanation {
    std::string unit;  // "seconds", "bytes"
    double cost = 0;
    std::vector<Decision> decisions;
    std::vector<PlanComparison> against;
    [[nodiscard]] const Decision* decisionOn(int value) const;  // null: none; linear
};

// The result of plan/explain. Fails with Input and a JSON pointer.
base::Result<Explanation> readExplanation(const json::Value& result, const ModelRecord& model);

}  // namespace hopscope::protocol
