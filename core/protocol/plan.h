#pragma once

// A plan and its prediction as a client reads them, checked against the model that they were made for.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.h"
#include "base/result.h"
#include "plan/pin.h"
#include "protocol/model.h"
#include "schema/plan_answers.h"
#include "schema/plan_document.h"
#include "json/json.h"

namespace hopscope::protocol {

using PlanAccess = schema::PlannedAccess;
using PlanFrontier = schema::PlannedFrontier;
using PlanCheckpoint = plan::Checkpoint;

struct PlanStep {
    OpId op;
    std::string rows;  // "B(node)", "F(node)", "O(edge_index,end1)", "ALL"
    std::string loop;  // destination type; empty for "ALL"
    bool operator==(const PlanStep&) const = default;
};

struct PlanLoop {
    std::string destination;
    std::vector<PlanFrontier> frontier;
    std::vector<PlanAccess> reads, writes;
    std::vector<OpId> reductions;
    bool operator==(const PlanLoop&) const = default;
};

struct PlanStage {
    StageId index{1};
    std::vector<PlanStep> steps;
    std::vector<PlanAccess> reads, writes;  // of all loops
    std::vector<PlanLoop> loops{};
    bool operator==(const PlanStage&) const = default;
};

using schema::PredictedStage, schema::Prediction;

struct PlanRecord {
    base::Strategy strategy = base::Strategy::Depth;
    std::string device;
    base::Objective objective = base::Objective::Time;
    std::optional<double> cost, lowerBound, gap;  // in the unit of the objective; gap = (cost - lowerBound) / cost
    std::vector<std::string> notes;               // sentences for the user
    std::optional<std::int64_t> batch;
    std::vector<OpId> prologue;
    std::vector<PlanStage> stages;
    std::vector<PlanCheckpoint> checkpoints;
    std::vector<plan::Pin> pins;
    std::optional<Prediction> predicted;
    json::Value document;  // plan.json itself, for run/start and for saving

    // Returns the stages that compute an operator, in ascending order: none for operators of the prologue, inputs and
    // outputs. Logarithmic.
    [[nodiscard]] std::vector<StageId> stagesOf(OpId op) const;
    [[nodiscard]] const PlanCheckpoint* checkpointOf(ValueId value) const;

    // Updates the index that stagesOf() uses. Call it after changing `stages`.
    void indexStages();
    std::map<OpId, std::vector<StageId>> stagesByOp;
};

// Whether both plans have the same pins, prologue, stages and stored values, also with the same bytes. A drawing of one
// then also shows the other.
bool sameCuts(const PlanRecord& left, const PlanRecord& right);

// Reads the result of plan/make or plan/load. Fails with Input and a JSON pointer.
base::Result<PlanRecord> readPlanResult(const json::Value& result, const ModelRecord& model);

// Whether the model contains the values that a pin names.
bool fits(const plan::Pin& pin, const ModelRecord& model);

}  // namespace hopscope::protocol
