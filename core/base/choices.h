#pragma once

// Enumerates the choices of users and the decisions of plans, with the names that documents, requests, options and the
// window share. Pins and decisions mean the same in the abstract placement problem and in the plans of models.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/names.h"

namespace hopscope::base {

// The way in which cuts are chosen. Rules consider only the model; the others search for a plan of low cost, and Optimal
// for the cheapest.
enum class Strategy : std::uint8_t { Optimal, LocalSearch, Depth, SourceRule };

struct StrategyTraits {
    Strategy strategy;
    const char* name;
    bool rule;
    const char* meaning;  // in docs/, after "chooses the cuts"
    // The stage in which each operator starts when a plan is derived step by step (core/placement/walkthrough.h).
    const char* start = "the stage of its depth, the number of hops before it";
    // The entry of a rule in the window's menu, and its tip.
    const char* action = "";
    const char* tip = "";
};

// In the order of Strategy.
inline constexpr auto strategies = std::to_array<StrategyTraits>({
    {.strategy = Strategy::Optimal,
     .name = "optimal",
     .rule = false,
     .meaning = "by integer programming: the cheapest plan of the cost model, with a proof if time suffices ([how cuts "
                "are chosen](../explain/placement.md))"},
    {.strategy = Strategy::LocalSearch,
     .name = "local-search",
     .rule = false,
     .meaning = "by local search only: a good plan, found without the solver"},
    {.strategy = Strategy::Depth,
     .name = "depth",
     .rule = true,
     .meaning = "by depth: each value is computed in the first stage in which it is complete, and read from then on. "
                "Values that need no message passing, and messages, are computed in the stage that uses them; for a "
                "message, the row of its source node is stored, unless that needs no message passing either",
     .action = "Strategy: &Depth",
     .tip = "Cut after every hop, without pins"},
    {.strategy = Strategy::SourceRule,
     .name = "source-rule",
     .rule = true,
     .meaning = "by module: each operator runs in the stage of its module's depth. Each cut moves back towards the "
                "inputs until it meets an input, a message-passing module, an operator with several operands, or a "
                "value that several stages use",
     .start = "the stage of its module, the number of message-passing modules up to and including it",
     .action = "Strategy: &Source Rule",
     .tip = "Cut by module, without pins"},
});

constexpr const StrategyTraits& traitsOf(Strategy strategy) { return strategies[static_cast<std::size_t>(strategy)]; }

constexpr auto namesOf(Strategy)
{
    std::array<Named<Strategy>, strategies.size()> names{};
    for (std::size_t at = 0; at < names.size(); ++at) names[at] = {strategies[at].strategy, strategies[at].name};
    return names;
}

constexpr bool isRule(Strategy strategy) { return traitsOf(strategy).rule; }

// The quantity that the search for a plan minimises.
enum class Objective : std::uint8_t { Time, Bytes };

constexpr auto namesOf(Objective)
{
    return std::to_array<Named<Objective>>({{Objective::Time, "time"}, {Objective::Bytes, "bytes"}});
}

// The unit of a cost. Each objective has its own.
enum class Unit : std::uint8_t { Seconds, Bytes };

constexpr auto namesOf(Unit)
{
    return std::to_array<Named<Unit>>({{Unit::Seconds, "seconds"}, {Unit::Bytes, "bytes"}});
}

constexpr Unit unitOf(Objective objective) { return objective == Objective::Time ? Unit::Seconds : Unit::Bytes; }

// The decisions that users can pin. If a value has several pins, the last Checkpoint or NoCheckpoint and the last
// HopStage apply; Cut and NoRecompute accumulate.
enum class PinKind : std::uint8_t { Checkpoint, NoCheckpoint, Cut, HopStage, NoRecompute };

// The decision of a pin about storing its value. Rules support no kind that leaves it open.
enum class PinStores : std::uint8_t { Open, Always, Never };

// The kind of name that a pin has after its value.
enum class PinThird : std::uint8_t { Nothing, Consumer, Stage };

struct PinTraits {
    PinKind kind;
    const char* name;
    PinThird third;
    PinStores stores;
    const char* words;    // to the user; %1: the value, %2: the third part
    const char* meaning;  // in docs/, of ["kind", v], ["kind", u, v] or ["kind", h, s]
    // The entry of a value's menu in the window, and its tip. Kinds with a third part have menus of their own
    // (widgets/models/pins.cpp).
    const char* action = "";
    const char* tip = "";
};

// In the order of PinKind.
inline constexpr auto pinKinds = std::to_array<PinTraits>({
    {PinKind::Checkpoint, "checkpoint", PinThird::Nothing, PinStores::Always, "store %1",
     "`v` is stored; if no later stage would read it, its consumers are delayed to one", "Store Here",
     "Always store it from now on."},
    {PinKind::NoCheckpoint, "no_checkpoint", PinThird::Nothing, PinStores::Never, "never store %1",
     "`v` is never stored, but recomputed where it is needed", "Never Store", "Recompute it where it is needed later."},
    {PinKind::Cut, "cut", PinThird::Consumer, PinStores::Open, "read %1 from a store for %2",
     "wherever `v` is computed, its operand `u` is read from a store"},
    {PinKind::HopStage, "hop_stage", PinThird::Stage, PinStores::Open, "run the gathers for %1 in stage %2",
     "the gathers that produce `h`, or that it aggregates, run in stage `s`"},
    {PinKind::NoRecompute, "no_recompute", PinThird::Nothing, PinStores::Open, "compute %1 only once",
     "`v` is computed once: in a single stage, on a single row class", "Do Not Recompute",
     "Compute it once: in a single stage, on a single row class."},
});

constexpr const PinTraits& traitsOf(PinKind kind) { return pinKinds[static_cast<std::size_t>(kind)]; }

constexpr auto namesOf(PinKind)
{
    std::array<Named<PinKind>, pinKinds.size()> names{};
    for (std::size_t at = 0; at < names.size(); ++at) names[at] = {pinKinds[at].kind, pinKinds[at].name};
    return names;
}

constexpr PinStores storesOf(PinKind kind) { return traitsOf(kind).stores; }
constexpr bool isStoring(PinKind kind) { return storesOf(kind) != PinStores::Open; }
constexpr PinThird thirdOf(PinKind kind) { return traitsOf(kind).third; }

// Describes a pin to the user, for example "run the gathers for conv1 in stage 2".
std::string pinText(PinKind kind, const std::string& value, const std::string& third);

// The kinds of decisions in an optimal plan, each with its alternative.
enum class DecisionKind : std::uint8_t {
    Stored,      // a value is stored; the alternative is never to store it
    Recomputed,  // a value is computed in several stages; the alternative is to compute it at most once
    Delayed,     // a hop runs later than it could; the alternative is its earliest stage
};

constexpr auto namesOf(DecisionKind)
{
    return std::to_array<Named<DecisionKind>>({{DecisionKind::Stored, "stored"},
                                               {DecisionKind::Recomputed, "recomputed"},
                                               {DecisionKind::Delayed, "delayed"}});
}

// How much of a run is compared with the model itself: all of it if memory suffices and a sample otherwise;
// always all of it; or nothing.
enum class VerifyMode : std::uint8_t { Sample, Full, None };

constexpr auto namesOf(VerifyMode)
{
    return std::to_array<Named<VerifyMode>>(
        {{VerifyMode::Sample, "sample"}, {VerifyMode::Full, "full"}, {VerifyMode::None, "none"}});
}

// What to do with inputs that are NaN or infinite: compute with them, or refuse the run.
enum class NanPolicy : std::uint8_t { Propagate, Refuse };

constexpr auto namesOf(NanPolicy)
{
    return std::to_array<Named<NanPolicy>>({{NanPolicy::Propagate, "propagate"}, {NanPolicy::Refuse, "refuse"}});
}

// Patterns of operators that a CPU computes in one pass over the edges, without a row of memory for each edge.
enum class Fuse : std::uint8_t {
    Chain,    // element-wise operators between gathers and an aggregation
    Softmax,  // aggregations whose results are used on edges before another aggregation, as in attention
    Several,  // several aggregations of the same messages
};

constexpr auto namesOf(Fuse)
{
    return std::to_array<Named<Fuse>>({{Fuse::Chain, "chain"}, {Fuse::Softmax, "softmax"}, {Fuse::Several, "several"}});
}

}  // namespace hopscope::base
