#pragma once

// How a plan comes about, one step after the other, for people who want to follow it.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/walk_kind.h"
#include "placement/cost_model.h"
#include "placement/strategy.h"

namespace hopscope::placement {

struct WalkStep {
    base::WalkKind kind = base::WalkKind::Label;
    std::map<plan::OpId, std::vector<plan::StageId>>
        moved{};                            // what computes them from this step on; empty: nothing does
    std::optional<plan::ValueId> stored{};  // of a Store
    bool operator==(const WalkStep&) const = default;
};

// The steps that lead to `plan`, which its strategy made of `analysis`: every operator in the stage of its depth (with the
// source rule that of its module, and a step for each cut that it pulls back), what has to be computed in other stages
// than those, then the stored values in the order of stages. Results of the model are stored without a step. Replayed from
// an empty plan they give the stages of every operator, and the stored values, of the plan. Linear in plan and pulls.
std::vector<WalkStep> walkthrough(const analysis::Analysis& analysis, const plan::Plan& plan);

// What is stored and read back if every path between two rounds of message passing only has to be cut once, at the least
// cost: black nodes and edges. No plan writes and reads for less at the row counts of `costs`; this need not be a plan itself.
struct Colouring {
    double cost = 0;                       // in the unit of the costs, of writing and reading alone
    std::vector<plan::ValueId> stored;     // black nodes, in the model's order
    std::optional<std::string> missing{};  // why no plan stores these alone; none: one does
    bool operator==(const Colouring&) const = default;
};

// One minimum cut. Fails with Unsupported as makeInstance does.
base::Result<Colouring> colouring(const analysis::Analysis& analysis, const CostModel& costs);

}  // namespace hopscope::placement
