#pragma once

// A model as an abstract placement instance, and an answer to it as decisions about the model.
//
// A node of the instance is a value on one partition class (its batch rows, or the rows of a table that these own).
// Nodes are found by demand, beginning with the results. Operands that are gathered on a frontier are src operands, all
// others are local. Row reductions are hops without src whose result is read from the next stage on; values without
// rows that depend on them belong to their consumers. Gathers and views on edges run in the stage of each consumer that
// can be stored, and have one node per such consumer. Inputs and structure-only values with rows are inputs of the
// instance.

#include <memory>

#include "optimiser/placement.h"
#include "placement/cost_model.h"
#include "placement/strategy.h"

namespace hopscope::placement {

// The rows on which an instance lets values be stored. A store is written on the rows on which its value is complete
// first, and can be read on any rows. Values on other rows are nodes of their own. With CompleteRows, these nodes are
// computed where they are needed; AnyRows also lets them be stored, for instances that otherwise have no plan. The
// costs of AnyRows omit the work that this adds on the complete rows.
enum class StoredOn : std::uint8_t { CompleteRows, AnyRows };

struct UnpinnedInstance;

struct ModelInstance {
    struct Origin {
        ir::ValueId value;  // of a row reduction: its first result
        ir::RowClass rows;  // the partition class
        ir::SpaceId loop;   // the destination type of its loop
        bool reduction = false;
        bool operator==(const Origin&) const = default;
    };
    optimiser::Instance instance;
    std::vector<Origin> origins;     // by node
    std::vector<ir::SpaceId> types;  // by type: node tables
    std::vector<plan::Pin> pins;     // those that count, in order
    std::vector<std::size_t> pinOf;  // by pin of the instance: the index in `pins` of the one that it stands for
    StoredOn storedOn = StoredOn::CompleteRows;
    bool confined = false;  // some value is also computed on rows on which it is not complete first
    std::shared_ptr<const UnpinnedInstance> unpinned = nullptr;  // the instance without pins, as a base for others
};

// Returns the instance of a model. Linear in the program. Fails with Unsupported if the model cannot be split, if a
// pinned value cannot be pinned, or if the abstract problem cannot express the model: a value that has to be stored on
// one partition and read on another. `before`, an instance of the same model for the same costs, saves most of the work
// if its nodes are the same.
base::Result<ModelInstance> makeInstance(const analysis::Analysis& analysis, const CostModel& costs,
                                         const std::vector<plan::Pin>& pins = {}, StoredOn on = StoredOn::CompleteRows,
                                         const ModelInstance* before = nullptr);

// Returns the decisions from which `realise` makes a plan. Omits empty stages.
Decisions decisionsOf(const ModelInstance& model, const optimiser::Placement& placement);

}  // namespace hopscope::placement
