#pragma once

// Requests that concern plans and the rates that determine their cost, with their answers.

#include "plan/pin.h"
#include "plan/walkthrough.h"
#include "protocol/method.h"
#include "schema/graph_part.h"
#include "schema/machine_rates.h"
#include "schema/plan_answers.h"
#include "schema/stage_memory.h"

namespace hopscope::protocol {

struct PlanMade {
    JsonObject plan{};
    std::optional<schema::Prediction> predicted{};
    std::vector<std::string> notes{};
};
template <std::same_as<PlanMade> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("", field("plan", &T::plan, "a [plan](format-plan.md)"),
                           field("predicted", &T::predicted, "[predictions](format-plan-answers.md#predictions)"),
                           field("notes", &T::notes, "sentences about the search"));
}

struct PlanQuery : OfDocument {
    std::vector<plan::Pin> pins{};
    bool near = false;
    base::Settings settings{};
};
template <std::same_as<PlanQuery> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence;
    return base::extended<T, OfDocument>(
        field("pins", &T::pins, "", Presence::Later),
        field("near", &T::near, "find an optimal plan quickly", Presence::WhenSet, base::Null::IsDefault),
        base::embedded(&T::settings, "and the [settings](settings.md) of a plan"));
}

struct LoadPlan : OfDocument {
    std::string text;
    base::Settings settings{};
};
template <std::same_as<LoadPlan> T>
constexpr auto fieldsOf(const T*)
{
    return base::extended<T, OfDocument>(base::field("text", &T::text, "of a plan.json"),
                                         base::embedded(&T::settings, "and the [settings](settings.md) of a plan"));
}

struct DrawGraph : OfPlan {
    std::optional<std::int64_t> node{};
    std::int64_t seed = 1;
};
template <std::same_as<DrawGraph> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence;
    return base::extended<T, OfPlan>(
        field("node", &T::node, "in the middle of the part; absent: it is drawn with `seed`", Presence::WhenSet),
        field("seed", &T::seed, "1 by default", Presence::Later));
}

struct ShowMemory : OfPlan {
    int stage = 0;
    base::Settings settings{};
};
template <std::same_as<ShowMemory> T>
constexpr auto fieldsOf(const T*)
{
    return base::extended<T, OfPlan>(base::field("stage", &T::stage, "of the plan"),
                                     base::embedded(&T::settings, "and the [settings](settings.md) of a run"));
}

struct OfDevice {
    std::string device = "auto";
};
template <std::same_as<OfDevice> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("", base::field("device", &T::device, "null: the default device", base::Presence::Later));
}

using MakePlan = Method<"plan/make", PlanQuery, PlanMade, "makes a plan">;
using FindRepairs = Method<"plan/repairs", PlanQuery, schema::Repairs, "fixes for pins that `plan/make` refused">;
using ExplainPlan = Method<"plan/explain", PlanQuery, schema::Explanation, "explains the plan of `plan/make`">;
using ListSteps = Method<"plan/steps", PlanQuery, plan::Walkthroughs, "how the plan of every strategy is derived">;
using ReadRates = Method<"machine/rates", OfDevice, schema::MachineRates, "the rates of a device">;
using MeasureRates = Method<"machine/measure", OfDevice, schema::MachineRates, "measures them for a few seconds">;
using ForgetRates = Method<"machine/forget", OfDevice, schema::MachineRates, "resets them to typical rates">;

using PlanQueries = std::variant<
    MakePlan, FindRepairs, ExplainPlan, ListSteps,
    Method<"plan/load", LoadPlan, PlanMade, "reads a plan against the document">,
    Method<"plan/graph", DrawGraph, schema::GraphPart, "nodes and edges from which the batches of a plan gather">,
    Method<"plan/memory", ShowMemory, schema::StageMemoryRecord, "the memory that the batches of a stage hold">,
    ReadRates, MeasureRates, ForgetRates>;

}  // namespace hopscope::protocol
