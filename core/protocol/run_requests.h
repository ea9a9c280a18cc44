#pragma once

// Requests that start and control runs, with their answers.

#include "protocol/debug_requests.h"
#include "protocol/run.h"

namespace hopscope::protocol {

struct StartedRun {
    std::int64_t run = 0;
    std::string folder{};
};
template <std::same_as<StartedRun> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("", base::field("run", &T::run, "its number"),
                           base::field("folder", &T::folder, "of its results"));
}

struct StartRun : OfPlan {
    std::string output{};
    bool paused = false, last = false;
    std::vector<std::string> transient{};
    std::optional<std::vector<Breakpoint>> breakpoints{};
    base::Settings settings{};
};
template <std::same_as<StartRun> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence;
    return base::extended<T, OfPlan>(
        field("output", &T::output, "a folder; null: a temporary one", Presence::Later, base::Null::IsDefault),
        field("paused", &T::paused, "starts paused, before anything is computed", Presence::Later),
        field("last", &T::last, "the document is not used afterwards", Presence::Later),
        field("transient", &T::transient, "files of the data that have no other readers", Presence::Later),
        field("breakpoints", &T::breakpoints, "the run can be stopped at operators", Presence::WhenSet),
        base::embedded(&T::settings, "and the [settings](settings.md) of a run"));
}

struct StepRun : OfRun {
    RunStep unit = RunStep::Batch;
};
template <std::same_as<StepRun> T>
constexpr auto fieldsOf(const T*)
{
    return base::extended<T, OfRun>(base::field("unit", &T::unit, "how far"));
}

struct SetBreakpoints : OfRun {
    std::vector<Breakpoint> breakpoints{};
};
template <std::same_as<SetBreakpoints> T>
constexpr auto fieldsOf(const T*)
{
    return base::extended<T, OfRun>(
        base::field("breakpoints", &T::breakpoints, "instead of the current ones", base::Presence::Later));
}

using PauseRun = Method<"run/pause", OfRun, Nothing, "pauses it between batches, stages or operators">;
using ResumeRun = Method<"run/resume", OfRun, Nothing, "continues it">;
using CancelRun = Method<"run/cancel", OfRun, Nothing, "cancels it">;

using StartQueries = std::variant<Method<"run/start", StartRun, StartedRun, "starts a run">>;

// The requests that are answered while another one is in progress.
using RunQuery =
    std::variant<PauseRun, ResumeRun,
                 Method<"run/step", StepRun, Nothing, "continues until one more `unit` has finished, then pauses">,
                 Method<"run/breakpoints", SetBreakpoints, Nothing, "replaces its breakpoints">, CancelRun>;

}  // namespace hopscope::protocol
