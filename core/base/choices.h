#pragma once

// Enumerates the choices of users and the decisions of plans, with the names that documents, requests, options and the
// window share. Pins and decisions mean the same in the abstract placement problem and in the plans of models.

#include <cstdint>
#include <string>

#include "base/names.h"

namespace hopscope::base {

// The way in which cuts are chosen. Depth and SourceRule are rules that consider only the model; the others search for
// a plan of low cost, and Optimal for the cheapest.
enum class Strategy : std::uint8_t { Optimal, LocalSearch, Depth, SourceRule };

constexpr auto namesOf(Strategy)
{
    return std::to_array<Named<Strategy>>({{Strategy::Optimal, "optimal"},
                                           {Strategy::LocalSearch, "local-search"},
                                           {Strategy::Depth, "depth"},
                                           {Strategy::SourceRule, "source-rule"}});
}

constexpr bool isRule(Strategy strategy) { return strategy == Strategy::Depth || strategy == Strategy::SourceRule; }

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
enum class PinKind : std::uint8_t {
    Checkpoint,    // a value is stored
    NoCheckpoint,  // a value is never stored
    Cut,           // a consumer reads the value from a store wherever the consumer is computed
    HopStage,      // the gathers that compute a value, or that it aggregates, run in a given stage
    NoRecompute,   // a value is computed once: in one stage, on one class of rows
};

constexpr auto namesOf(PinKind)
{
    return std::to_array<Named<PinKind>>({{PinKind::Checkpoint, "checkpoint"},
                                          {PinKind::NoCheckpoint, "no_checkpoint"},
                                          {PinKind::Cut, "cut"},
                                          {PinKind::HopStage, "hop_stage"},
                                          {PinKind::NoRecompute, "no_recompute"}});
}

// Returns whether pins of this kind determine if a value is stored. Rules support no other kinds.
constexpr bool isStoring(PinKind kind) { return kind == PinKind::Checkpoint || kind == PinKind::NoCheckpoint; }

// The kind of name that a pin has after its value.
enum class PinThird : std::uint8_t { Nothing, Consumer, Stage };

constexpr PinThird thirdOf(PinKind kind)
{
    if (kind == PinKind::Cut) return PinThird::Consumer;
    return kind == PinKind::HopStage ? PinThird::Stage : PinThird::Nothing;
}

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
