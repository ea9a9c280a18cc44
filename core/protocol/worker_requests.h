#pragma once

// Requests to `hopscope-engine worker`, with their answers.

#include "protocol/method.h"

namespace hopscope::protocol {

struct RunPlace {
    std::optional<int> stage{};
    int stages = 0;
    std::optional<JsonObject> report{};
    std::vector<std::string> notes{};
};
template <std::same_as<RunPlace> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("", field("stage", &T::stage, "at which the run is; null: it has ended"),
                           field("stages", &T::stages, "their number"),
                           field("report", &T::report, "of a run that has ended: its [report](format-report.md)"),
                           field("notes", &T::notes, "sentences"));
}

struct StageEnd : RunPlace {
    std::int64_t readBack = 0;
};
template <std::same_as<StageEnd> T>
constexpr auto fieldsOf(const T*)
{
    return base::extended<T, RunPlace>(
        base::field("read_back", &T::readBack, "bytes of other workers that this one has read", base::Quantity::Bytes));
}

struct UnfinishedShard {
    int loop = 0;
    std::int64_t first = 0, count = 0;
    double work = 0;
};
template <std::same_as<UnfinishedShard> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("", field("loop", &T::loop, ""), field("first", &T::first, "destination"),
                           field("count", &T::count, "of destinations"),
                           field("work", &T::work, "edges, and 8 for each destination"));
}

struct ShardList {
    std::vector<UnfinishedShard> shards{};
    std::int64_t done = 0, total = 0;
};
template <std::same_as<ShardList> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "",
        field("shards", &T::shards,
              "`{loop, first, count, work}`: ranges of unfinished destinations, cut between tiles or batches"),
        field("done", &T::done, "finished destinations"), field("total", &T::total, "destinations of the stage"));
}

struct ComputedShard {
    std::int64_t destinations = 0, written = 0, read = 0;
};
template <std::same_as<ComputedShard> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("", field("destinations", &T::destinations, "that this worker has computed"),
                           field("written", &T::written, "bytes of stored rows"),
                           field("read", &T::read, "bytes of stored rows"));
}

struct OpenRun {
    ModelFiles files;
    std::string output{}, plan{}, pins{};
    std::optional<double> wait{};
    base::Settings settings{};
};
template <std::same_as<OpenRun> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Null, base::Presence;
    return base::described(
        "", base::embedded(&T::files), field("output", &T::output, "the folder that all workers see"),
        field("plan", &T::plan, "a file", Presence::Later, Null::IsDefault),
        field("pins", &T::pins, "a file", Presence::Later, Null::IsDefault),
        field("wait", &T::wait, "the most seconds of each wait for other workers", Presence::Later),
        base::embedded(
            &T::settings,
            "and the [settings](settings.md) of a run except `cache` and `resume`; `device` `auto` is the CPU"));
}

struct OfStage {
    int stage = 0;
};
template <std::same_as<OfStage> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("", base::field("stage", &T::stage, "at which the run is"));
}

struct ListShards : OfStage {
    int parts = 0;
};
template <std::same_as<ListShards> T>
constexpr auto fieldsOf(const T*)
{
    return base::extended<T, OfStage>(
        base::field("parts", &T::parts, "each shard has about 1/`parts` of the work", base::Within{1, 100'000}));
}

struct ComputeShard : OfStage {
    int loop = 0;
    std::int64_t first = 0, count = 0;
};
template <std::same_as<ComputeShard> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::extended<T, OfStage>(field("loop", &T::loop, "of the stage"),
                                      field("first", &T::first, "the first destination"),
                                      field("count", &T::count, "of destinations"));
}

struct EndStage : OfStage {
    bool publish = false;
};
template <std::same_as<EndStage> T>
constexpr auto fieldsOf(const T*)
{
    return base::extended<T, OfStage>(base::field(
        "publish", &T::publish, "at the last stage, for one worker: publishes the results", base::Presence::Later));
}

using WorkerQuery =
    std::variant<Method<"worker/open", OpenRun, RunPlace, "joins a run">,
                 Method<"shard/list", ListShards, ShardList, "the unfinished part of the stage">,
                 Method<"shard/compute", ComputeShard, ComputedShard, "computes a range of whole tiles or batches">,
                 Method<"stage/end", EndStage, StageEnd, "leaves a finished stage">>;

}  // namespace hopscope::protocol
