#pragma once

// What runs where: plain data, made by placement, written and read by schema, run by the executor.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "ir/rows.h"

namespace hopscope::plan {

using ir::KeyId;
using ir::OpId;
using ir::RowClass;
using ir::SpaceId;
using ir::ValueId;

struct Step {  // compute operator `op` on `rows`; steps of a loop are in execution order
    OpId op;
    RowClass rows;
    bool operator==(const Step&) const = default;
};

struct Access {  // value `value` read from a store (or an input), written to a store, or reduced over, on `rows`
    ValueId value;
    RowClass rows;
    bool operator==(const Access&) const = default;
};

// The frontier of type `type` holds, for each row of `space` owned by key `owner`, the row that its key `key` names.
struct FrontierSource {
    SpaceId type;
    SpaceId space;
    KeyId owner;
    KeyId key;
    bool operator==(const FrontierSource&) const = default;
};

struct Loop {
    SpaceId destination;  // node type of the batches
    std::vector<FrontierSource> frontier;
    std::vector<Step> steps;
    std::vector<Access> reads;     // from earlier stages' stores and from inputs with rows
    std::vector<Access> writes;    // every row exactly once over the loop
    std::vector<Step> reductions;  // row reductions that finish with this stage
    bool operator==(const Loop&) const = default;
};

struct Stage {
    int index = 1;              // from 1; 0 is the optional pre-pass
    std::vector<Loop> loops;    // independent of each other
    std::vector<OpId> rowless;  // operators without rows that follow from this stage's reductions
    bool operator==(const Stage&) const = default;
};

struct Checkpoint {
    ValueId value;
    int stage = 0;        // that writes it
    bool output = false;  // also a result of the model
    std::optional<std::int64_t> bytesWritten, bytesRead;
    bool operator==(const Checkpoint&) const = default;
};

struct Bytes {
    std::int64_t d2h = 0, h2d = 0, structure = 0;
    bool operator==(const Bytes&) const = default;
};

// What the user has decided. Of the pins on one value the last Checkpoint or NoCheckpoint counts, and the last HopStage;
// Cut and NoRecompute add up.
enum class PinKind : std::uint8_t {
    Checkpoint,    // `value` is stored
    NoCheckpoint,  // `value` is never stored
    Cut,           // wherever `consumer` is computed it takes its operand `value` from a store
    HopStage,      // the gathers that make `value`, or that it aggregates, run in stage `stage`
    NoRecompute,   // `value` is computed once: in one stage, on one class of rows
};

inline const char* pinName(PinKind kind)
{
    switch (kind) {
    case PinKind::Checkpoint: return "checkpoint";
    case PinKind::NoCheckpoint: return "no_checkpoint";
    case PinKind::Cut: return "cut";
    case PinKind::HopStage: return "hop_stage";
    case PinKind::NoRecompute: return "no_recompute";
    }
    return "";
}

struct Pin {
    PinKind kind = PinKind::Checkpoint;
    ValueId value;
    ValueId consumer{};  // Cut only
    int stage = 0;       // HopStage only, as Stage::index
    bool operator==(const Pin&) const = default;
};

struct Plan {
    std::string strategy = "depth";
    std::string objective = "bytes";
    std::string unit = "bytes";
    std::string device = "cpu";
    std::optional<std::int64_t> batch;  // destinations per batch; none: chosen while running
    std::string reorder = "none";
    std::vector<Pin> pins;       // the stores follow from the strategy and these
    std::vector<OpId> prologue;  // evaluated once for the whole graph
    std::vector<Stage> stages;
    std::vector<Checkpoint> checkpoints;
    std::vector<ValueId> resident;   // tables that stay on a GPU from their first use to their last: inputs and stores
    bool residentStructure = false;  // so do the adjacencies that their readers go along
    std::optional<double> cost, lowerBound, gap;
    std::optional<Bytes> bytes;  // null without data
    std::optional<std::int64_t> peakMemory;
    std::map<std::string, std::string> hashes;  // "model", "data", "roles"
    bool operator==(const Plan&) const = default;
};

}  // namespace hopscope::plan
