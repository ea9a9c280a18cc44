#pragma once

// The steps that lead to the plans of the rules and to the optimal plan, and the optimum of the min-cut relaxation: the
// answer to plan/steps.

#include <concepts>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.h"
#include "base/describe.h"
#include "base/walk_kind.h"
#include "ir/program.h"
#include "plan/plan.h"
#include "plan/stage_id.h"

namespace hopscope::plan {

struct MovedOp {
    OpId op;
    std::vector<StageId> stages{};
    bool operator==(const MovedOp&) const = default;
};

template <std::same_as<MovedOp> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "moved", field("op", &T::op, "the operator: `op12`"),
        field("stages", &T::stages, "the stages that compute it from this step on; empty: none, it is not needed"));
}

struct WalkStep {
    base::WalkKind kind = base::WalkKind::Label;
    std::vector<MovedOp> moved{};
    std::optional<ValueId> stored{};
    bool operator==(const WalkStep&) const = default;
};

template <std::same_as<WalkStep> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "step",
        field("kind", &T::kind,
              "`label`: every operator goes to the stage in which it starts, such as that of its depth; `pull`: a "
              "heuristic moves a cut towards the inputs; `settle`: operators move to the stages in which the plan "
              "computes them; `store`: a value is stored between stages"),
        field("moved", &T::moved, "operators that change their stages, ascending"),
        field("stored", &T::stored, "the value of a `store`: `v5`; null otherwise"));
}

struct Walkthrough {
    base::Strategy strategy = base::Strategy::Depth;
    std::vector<WalkStep> steps{};
    bool operator==(const Walkthrough&) const = default;
};

template <std::same_as<Walkthrough> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("way", field("strategy", &T::strategy, "a heuristic or `optimal`"),
                           field("steps", &T::steps, "from an empty plan to the plan of the strategy"));
}

// The optimum of the min-cut relaxation: the values that are stored and read back if every path between two rounds of
// message passing only has to be cut once. The stored values need not form a plan.
struct Colouring {
    double cost = 0;
    std::vector<ValueId> stored{};
    std::optional<std::string> missing{};
    bool operator==(const Colouring&) const = default;
};

template <std::same_as<Colouring> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "colouring",
        field("cost", &T::cost,
              "of writing and reading these values, in `unit`, for the row counts of the batches of the first plan in "
              "`ways`",
              base::Quantity::Ratio),
        field(
            "stored", &T::stored,
            "values that are stored if every path between two rounds of message passing is cut once at the least cost, "
            "in the model's order"),
        field("missing", &T::missing, "the reason why this is not a plan; null: it is one"));
}

struct Walkthroughs {
    base::Unit unit = base::Unit::Seconds;
    std::vector<Walkthrough> ways{};
    std::optional<Colouring> colouring{};
    bool operator==(const Walkthroughs&) const = default;
};

template <std::same_as<Walkthroughs> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "steps", field("unit", &T::unit, "of costs"),
        field("ways", &T::ways, "the heuristics and then `optimal`, if they have a plan"),
        field("colouring", &T::colouring,
              "the minimum cut; null without data, and where the model cannot be expressed as a placement instance"));
}

}  // namespace hopscope::plan
