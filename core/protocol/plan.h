#pragma once

// A plan and its prediction as a client reads them, against the model they were made for.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/model.h"
#include "protocol/pin.h"
#include "json/json.h"

namespace hopscope::protocol {

struct PlanStep {
    int op = -1;       // index into ModelRecord::ops
    std::string rows;  // "B(node)", "F(node)", "O(edge_index,end1)"
    std::string loop;  // destination type
    bool operator==(const PlanStep&) const = default;
};

struct PlanAccess {
    int value = -1;  // index into ModelRecord::values
    std::string rows;
    bool operator==(const PlanAccess&) const = default;
};

struct PlanStage {
    int index = 1;
    std::vector<PlanStep> steps;
    std::vector<PlanAccess> reads, writes;
    bool operator==(const PlanStage&) const = default;
};

struct PlanCheckpoint {
    int value = -1;
    int stage = 0;
    bool output = false;
    std::optional<std::int64_t> bytesWritten, bytesRead;
    bool operator==(const PlanCheckpoint&) const = default;
};

struct PredictedStage {
    int index = 1;
    std::int64_t written = 0, read = 0, structure = 0, frontierRows = 0, destinations = 0, peakMemory = 0;
    std::optional<double> seconds;
    std::vector<int> recomputed;  // ops that an earlier stage has computed on the same or other rows
};

struct Prediction {
    std::int64_t batch = 0, batches = 0;
    std::int64_t stores = 0, d2h = 0, h2d = 0, structure = 0, peakMemory = 0;
    std::optional<double> seconds;
    std::vector<PredictedStage> stages;
};

struct PlanRecord {
    std::string strategy, device;
    std::string objective, unit;                  // "time" in "seconds", or "bytes" in "bytes"
    std::optional<double> cost, lowerBound, gap;  // in the unit; gap = (cost - lowerBound) / cost
    std::vector<std::string> notes;               // what the user should know about how it was found
    std::optional<std::int64_t> batch;
    std::vector<int> prologue;
    std::vector<PlanStage> stages;
    std::vector<PlanCheckpoint> checkpoints;
    std::vector<PinRecord> pins;
    std::optional<Prediction> predicted;
    json::Value document;  // plan.json itself: what run/start and saving take

    // The stages that compute an operator, ascending; empty: in the prologue, an input, or an output. Logarithmic.
    [[nodiscard]] std::vector<int> stagesOf(int op) const;
    [[nodiscard]] const PlanCheckpoint* checkpointOf(int value) const;

    // Fills the index behind `stagesOf`: after the stages have been changed by hand.
    void indexStages();
    std::map<int, std::vector<int>> stagesByOp;
};

// The same stages compute, store and read the same around the same pins: a picture of one is a picture of the other.
bool sameCuts(const PlanRecord& left, const PlanRecord& right);

// The result of plan/make and plan/load. Fails with Input and a JSON pointer.
base::Result<PlanRecord> readPlanResult(const json::Value& result, const ModelRecord& model);

// A fix suggested by plan/repairs: without a pin, or with so many stages.
struct RepairRecord {
    std::optional<PinRecord> drop;
    int stages = 0;  // where nothing is dropped
    double cost = 0;
    bool operator==(const RepairRecord&) const = default;
};
// The cheapest first. Fails with Input.
base::Result<std::vector<RepairRecord>> readRepairs(const json::Value& result);

}  // namespace hopscope::protocol
