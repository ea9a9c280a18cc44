#pragma once

// The answer to plan/memory: the rows that the batches of a stage hold at each step, and the parts of the peak memory.
// Tables, operators and values have the names of plan.json.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/result.h"
#include "plan/batch_step.h"
#include "plan/stage_id.h"
#include "json/json.h"

namespace hopscope::schema {

// One step of the computation of a batch.
struct MemoryStep {
    plan::BatchStep kind = plan::BatchStep::Operator;
    std::string op{};
    std::vector<std::string> fused{};
    std::string label{};
    std::int64_t bytes = 0;
    bool operator==(const MemoryStep&) const = default;
};

template <std::same_as<MemoryStep> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "step",
        field("kind", &T::kind, "`rows` are read, `numbers` of rows are computed, or an `operator` is computed"),
        field("op", &T::op, "of an operator: `op12`"),
        field("fused", &T::fused, "operators computed with it, in one pass over the edges"),
        field("label", &T::label, "for display: the result of the operator, or the rows that are read"),
        field("bytes", &T::bytes, "held at this step", base::Quantity::Bytes));
}

// Rows that a batch holds during the steps [from, to).
struct HeldRows {
    std::string value{}, label{}, rows{};
    std::int64_t bytes = 0;
    std::int64_t from = 0, to = 0;
    std::optional<std::int64_t> over{}, viewOf{};
    bool inPlace = false;
    bool operator==(const HeldRows&) const = default;
};

template <std::same_as<HeldRows> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "held", field("value", &T::value, "empty: row numbers"), field("label", &T::label, "for display"),
        field("rows", &T::rows, "which rows they are"),
        field("bytes", &T::bytes, "that it adds: none for views and for rows used in place", Quantity::Bytes),
        field("from", &T::from, "the first step, counted from 0, at which it is held", Quantity::Count),
        field("to", &T::to, "the first step after its end", Quantity::Count),
        field("over", &T::over, "position in the list of the entry that it overwrites", Quantity::Count),
        field("view_of", &T::viewOf, "position in the list of the entry that it is a view of", Quantity::Count),
        field("in_place", &T::inPlace, "rows of a table, used in place"));
}

// The memory of the batch that holds most, among the batches of a loop.
struct LoopMemoryRecord {
    std::string table{}, label{};
    std::int64_t destinations = 0, batches = 0, sideBySide = 1, peakStep = 0;
    std::vector<MemoryStep> steps{};
    std::vector<HeldRows> held{};
    [[nodiscard]] std::int64_t peak() const;  // bytes that one batch holds at the peak step
    bool operator==(const LoopMemoryRecord&) const = default;
};

template <std::same_as<LoopMemoryRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described("loop", field("table", &T::table, "the node type"), field("label", &T::label, "for display"),
                           field("destinations", &T::destinations, "of the batch that holds most", Quantity::Count),
                           field("batches", &T::batches, "their number", Quantity::Count),
                           field("side_by_side", &T::sideBySide,
                                 "batches that are computed at once, each with memory of its own", Quantity::Count),
                           field("peak_step", &T::peakStep, "the step that holds most", Quantity::Count),
                           field("steps", &T::steps, "in the order of computation"),
                           field("held", &T::held, "rows that are held from one step to another"));
}

struct StageMemoryRecord {
    plan::StageId stage{1};
    std::int64_t peakMemory = 0, outside = 0;
    bool estimated = false;
    std::vector<LoopMemoryRecord> loops{};
    bool operator==(const StageMemoryRecord&) const = default;
};

template <std::same_as<StageMemoryRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "stage_memory", field("stage", &T::stage, "its number"),
        field("peak_memory", &T::peakMemory,
              "as predicted for the stage: `outside`, the rows of batches, and the scratch memory of operators",
              Quantity::Bytes),
        field("outside", &T::outside, "held outside of batches: weights, prologue and structure", Quantity::Bytes),
        field("estimated", &T::estimated, "no dry run was possible"),
        field("loops", &T::loops, "one for each node type whose rows the stage computes"));
}

json::Value stageMemoryValue(const StageMemoryRecord& memory);
// Reads the answer. Fails with Input and a JSON pointer.
base::Result<StageMemoryRecord> stageMemoryFrom(const json::Value& document, const std::string& name);

}  // namespace hopscope::schema
