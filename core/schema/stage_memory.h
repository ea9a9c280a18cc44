#pragma once

// The answer to plan/memory: what the batches of a stage hold when, and what the peak consists of. docs/protocol.md has every
// member. Tables, operators and values have the names of plan.json.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/batch_step.h"
#include "plan/stage_id.h"
#include "json/json.h"

namespace hopscope::schema {

// One step of a batch, in the order of computation.
struct MemoryStep {
    plan::BatchStep kind = plan::BatchStep::Operator;
    std::string op{};                  // of an operator: "op12"
    std::vector<std::string> fused{};  // computed with it, in one pass over the edges
    std::string label{};               // for people: the result of the operator, or what is read
    std::int64_t bytes = 0;            // that are held at this step
    bool operator==(const MemoryStep&) const = default;
};

// Rows that a batch holds from the step `from` to before the step `to`.
struct HeldRows {
    std::string value{};  // empty: row numbers
    std::string label{}, rows{};
    std::int64_t bytes = 0;  // that it adds
    std::int64_t from = 0, to = 0;
    // Positions in the list: what it is written over, and what it is a view of.
    std::optional<std::int64_t> over{}, viewOf{};
    bool inPlace = false;  // rows of a table, used where they lie
    bool operator==(const HeldRows&) const = default;
};

// Of one node type's destinations: the batch that holds most.
struct LoopMemoryRecord {
    std::string table{}, label{};
    std::int64_t destinations = 0, batches = 0;
    std::int64_t sideBySide = 1;  // batches that are computed at once
    std::int64_t peakStep = 0;
    std::vector<MemoryStep> steps{};
    std::vector<HeldRows> held{};
    [[nodiscard]] std::int64_t peak() const;  // bytes held at the peak step by one batch
    bool operator==(const LoopMemoryRecord&) const = default;
};

struct StageMemoryRecord {
    plan::StageId stage{1};
    std::int64_t peakMemory = 0;  // as predicted for the stage: with `outside`, and with what operators need themselves
    std::int64_t outside = 0;     // held outside of batches: weights, prologue and structure
    bool estimated = false;       // no dry run was possible
    std::vector<LoopMemoryRecord> loops{};
    bool operator==(const StageMemoryRecord&) const = default;
};

json::Value stageMemoryValue(const StageMemoryRecord& memory);
// Fails with Input and a JSON pointer.
base::Result<StageMemoryRecord> stageMemoryFrom(const json::Value& document, const std::string& name);

}  // namespace hopscope::schema
