#pragma once

// A plan and its prediction as a client reads them, against the model they were made for.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/model.h"
#include "json/json.h"

namespace hopscope::protocol {

struct PinRecord {
    std::string kind;  // "checkpoint", "no_checkpoint"
    std::string value;
    bool operator==(const PinRecord&) const = default;
};

struct PlanStep {
    int op = -1;       // index into ModelRecord::ops
    std::string rows;  // "B(node)", "F(node)", "O(edge_index,end1)"
    std::string loop;  // destination type
};

struct PlanAccess {
    int value = -1;  // index into ModelRecord::values
    std::string rows;
};

struct PlanStage {
    int index = 1;
    std::vector<PlanStep> steps;
    std::vector<PlanAccess> reads, writes;
};

struct PlanCheckpoint {
    int value = -1;
    int stage = 0;
    bool output = false;
    std::optional<std::int64_t> bytesWritten, bytesRead;
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

// The result of plan/make and plan/load. Fails with Input and a JSON pointer.
base::Result<PlanRecord> readPlanResult(const json::Value& result, const ModelRecord& model);
// The pins that plan/repairs would drop, the cheapest plan first. Fails with Input.
base::Result<std::vector<PinRecord>> readRepairs(const json::Value& result);
json::Value writePins(const std::vector<PinRecord>& pins);

}  // namespace hopscope::protocol
