#pragma once

// The plan of a run as plain data. Placement makes it, schema writes and reads it, and the executor runs it.

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.h"
#include "base/describe.h"
#include "ir/program.h"
#include "ir/rows.h"
#include "plan/pin.h"
#include "plan/stage_id.h"

namespace hopscope::plan {

using ir::KeyId;
using ir::OpId;
using ir::RowClass;
using ir::SpaceId;
using ir::ValueId;

struct Step {  // computes operator `op` on `rows`, or adds these to its reduction; in execution order
    OpId op;
    RowClass rows;
    bool operator==(const Step&) const = default;
};

struct Access {  // reads `value` from a store or an input, or writes it to a store, on `rows`
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
    StageId index{1};
    std::vector<Loop> loops;    // independent of each other
    std::vector<OpId> rowless;  // operators on values without rows, computed after the reductions
    bool operator==(const Stage&) const = default;
};

struct Checkpoint {
    ValueId value;
    StageId stage;        // the stage that writes it
    bool output = false;  // also a result of the model
    std::optional<std::int64_t> bytesWritten, bytesRead;
    bool operator==(const Checkpoint&) const = default;
};

struct Bytes {
    std::int64_t d2h = 0, h2d = 0, structure = 0;

    Bytes& operator+=(const Bytes& other)
    {
        d2h += other.d2h;
        h2d += other.h2d;
        structure += other.structure;
        return *this;
    }
    bool operator==(const Bytes&) const = default;
};

template <std::same_as<Bytes> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("bytes", base::field("d2h", &T::d2h, "rows written", base::Quantity::Bytes),
                           base::field("h2d", &T::h2d, "rows read", base::Quantity::Bytes),
                           base::field("structure", &T::structure, "indices moved", base::Quantity::Bytes));
}

// A table whose most-gathered rows stay on a GPU. Kernels read the other rows from pinned memory of
// the host.
struct CachedTable {
    ValueId value;
    double share = 0;  // of the rows; 0 to 1
    bool operator==(const CachedTable&) const = default;
};

struct Plan {
    base::Strategy strategy = base::Strategy::Depth;
    base::Objective objective = base::Objective::Bytes;  // determines the unit of costs
    std::string device = "cpu";
    std::optional<std::int64_t> batch;  // destinations per batch; none: chosen while running
    std::vector<Pin> pins;              // of the user; the plan respects them
    std::vector<OpId> prologue;         // evaluated once for the whole graph
    std::vector<Stage> stages;
    std::vector<Checkpoint> checkpoints;
    std::vector<ValueId> resident;    // tables that stay on a GPU from their first use to their last: inputs and stores
    bool residentStructure = false;   // the adjacencies that loops read stay there as well
    std::vector<CachedTable> cached;  // tables that stay there in part
    std::optional<double> cost, lowerBound, gap;
    std::optional<Bytes> bytes;  // null without data
    std::optional<std::int64_t> peakMemory;
    std::map<std::string, std::string> hashes;  // "model", "data", "roles"
    bool operator==(const Plan&) const = default;
};

}  // namespace hopscope::plan
