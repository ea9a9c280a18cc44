#pragma once

// The events that a run reports to its client, and the notification of its end.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/describe.h"
#include "base/names.h"
#include "base/result.h"
#include "schema/report.h"
#include "json/json.h"

namespace hopscope::protocol {

using plan::StageId;

enum class RunState : std::uint8_t { Preparing, Running, Paused, Verifying, Finished };
constexpr auto namesOf(RunState)
{
    return std::to_array<base::Named<RunState>>({{RunState::Preparing, "preparing"},
                                                 {RunState::Running, "running"},
                                                 {RunState::Paused, "paused"},
                                                 {RunState::Verifying, "verifying"},
                                                 {RunState::Finished, "finished"}});
}

// The unit for which a paused run continues before it pauses again.
enum class RunStep : std::uint8_t { Operator, Batch, Stage };
constexpr auto namesOf(RunStep)
{
    return std::to_array<base::Named<RunStep>>(
        {{RunStep::Operator, "operator"}, {RunStep::Batch, "batch"}, {RunStep::Stage, "stage"}});
}

using plan::Phase, plan::phaseCount;
inline const char* phaseName(int phase) { return base::nameOf(static_cast<Phase>(phase)); }

// In events, `time`, `start`, `begin` and `end` are in seconds since the run began, excluding pauses; `seconds` is a
// duration.

struct PrologueEvent {
    double seconds = 0;
};

template <std::same_as<PrologueEvent> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("prologue", base::field("seconds", &T::seconds, "its duration"));
}

struct StageEvent {
    StageId index{1};
    int count = 1;
    std::int64_t destinations = 0;
    double time = 0;
    std::int64_t done = 0;
    int shards = 0;
};

template <std::same_as<StageEvent> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Null, base::Presence;
    return base::described(
        "stage", field("index", &T::index, "the stage that begins"), field("count", &T::count, "of stages"),
        field("destinations", &T::destinations, "of the stage"), field("time", &T::time, ""),
        field("done", &T::done, "of several workers: destinations that were finished before", Presence::WhenSet,
              Null::IsDefault),
        field("shards", &T::shards, "of several workers: the number of shards that the stage is divided into",
              Presence::WhenSet, Null::IsDefault));
}

struct BatchEvent {
    StageId stage{1};
    std::string loop;
    std::int64_t batch = 0, destinations = 0, edges = 0, frontier = 0, done = 0, total = 0, memory = 0, peakMemory = 0;
    double time = 0;
    std::int64_t reservedMemory = 0;
};

template <std::same_as<BatchEvent> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("batch", field("stage", &T::stage, ""),
                           field("loop", &T::loop, "the node type of its destinations"),
                           field("batch", &T::batch, "its number in the loop, from 0"),
                           field("destinations", &T::destinations, "that it has computed"),
                           field("edges", &T::edges, "along which it has gathered"),
                           field("frontier", &T::frontier, "rows from which it has gathered"),
                           field("done", &T::done, "finished destinations of the stage"),
                           field("total", &T::total, "destinations of the stage"),
                           field("memory", &T::memory, "bytes that are allocated on the device"),
                           field("peak_memory", &T::peakMemory, "the most in this batch"),
                           field("reserved_memory", &T::reservedMemory,
                                 "the most bytes that the allocator of a GPU had reserved in this batch; null on a CPU",
                                 base::Presence::Later, base::Null::IsDefault),
                           field("time", &T::time, ""));
}

// A phase of a batch. On a GPU, the phases of different batches overlap; they are reported batch by batch.
struct PhaseEvent {
    StageId stage{1};
    std::int64_t batch = 0;
    Phase phase = Phase::Block;
    double start = 0, seconds = 0;
    int device = 0;
};

template <std::same_as<PhaseEvent> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("phase", field("stage", &T::stage, ""), field("batch", &T::batch, "as in its `batch` event"),
                           field("phase", &T::phase, ""), field("start", &T::start, ""),
                           field("seconds", &T::seconds, "its duration"),
                           field("device", &T::device, "of several GPUs: its place in the list of devices, from 0",
                                 base::Presence::WhenSet, base::Null::IsDefault));
}

struct StageEndEvent {
    StageId index{1};
    double seconds = 0, time = 0;
    std::optional<double> overlap{};
};

template <std::same_as<StageEndEvent> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "stage_end", field("index", &T::index, "the stage that has ended"),
        field("seconds", &T::seconds, "its duration"),
        field("overlap", &T::overlap, "as in [reports](format-report.md); null on a CPU", base::Presence::Later),
        field("time", &T::time, ""));
}

// The run has stopped after an operator of a batch.
struct StopEvent {
    std::string op, value;
    StageId stage{1};
    std::int64_t batch = 1;
    bool breakpoint = false;
    double time = 0;
};

template <std::same_as<StopEvent> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("stop", field("op", &T::op, "the operator after which the run is paused"),
                           field("value", &T::value, "its result"), field("stage", &T::stage, ""),
                           field("batch", &T::batch, "its number in the stage, from 1"),
                           field("breakpoint", &T::breakpoint, "false: stepped to"), field("time", &T::time, ""));
}

struct NoteEvent {
    std::string message;
};

template <std::same_as<NoteEvent> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("note", base::field("message", &T::message, "a sentence"));
}

struct MergedEvent {
    std::int64_t count = 0;
};

template <std::same_as<MergedEvent> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("merged",
                           base::field("count", &T::count,
                                       "of `phase` events dropped because the client could not keep up; `batch` and "
                                       "stage events are never dropped"));
}

// ---- events of a run on several workers

inline constexpr base::Within workerNumbers{1, 4096};

enum class WorkerNews : std::uint8_t { Starting, Joined, Lost, Late, Refused, Done };
constexpr auto namesOf(WorkerNews)
{
    return std::to_array<base::Named<WorkerNews>>({{WorkerNews::Starting, "starting"},
                                                   {WorkerNews::Joined, "joined"},
                                                   {WorkerNews::Lost, "lost"},
                                                   {WorkerNews::Late, "late"},
                                                   {WorkerNews::Refused, "refused"},
                                                   {WorkerNews::Done, "done"}});
}

struct WorkerEvent {
    int worker = 1;
    WorkerNews what = WorkerNews::Starting;
    std::string host, message;
    double time = 0;
};

template <std::same_as<WorkerEvent> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("worker", field("worker", &T::worker, "its number, from 1", workerNumbers),
                           field("what", &T::what,
                                 "`late`: its shard takes too long; `refused`: it is excluded from the run; `done`: no "
                                 "shards are left for it"),
                           field("host", &T::host, "where it runs"),
                           field("message", &T::message,
                                 "the reason why it was lost or refused, or the step that takes long",
                                 base::Presence::Later, base::Null::IsDefault),
                           field("time", &T::time, ""));
}

enum class ShardOutcome : std::uint8_t { Begun, Computed, Found, Lost };
constexpr auto namesOf(ShardOutcome)
{
    return std::to_array<base::Named<ShardOutcome>>({{ShardOutcome::Begun, "begun"},
                                                     {ShardOutcome::Computed, "computed"},
                                                     {ShardOutcome::Found, "found"},
                                                     {ShardOutcome::Lost, "lost"}});
}

struct ShardEvent {
    int worker = 1;
    StageId stage{1};
    ShardOutcome outcome = ShardOutcome::Begun;
    int shard = 1;
    int loop = 1;
    std::int64_t first = 0, count = 0;
    double work = 0;
    int attempt = 1;
    double begin = 0, end = 0;
    std::int64_t destinations = 0, written = 0, read = 0;
    std::optional<std::int64_t> done{};
    double time = 0;
};

template <std::same_as<ShardEvent> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Null, base::Presence;
    return base::described(
        "shard", field("worker", &T::worker, "", workerNumbers), field("stage", &T::stage, ""),
        field("shard", &T::shard, "its number in the stage, from 1"), field("loop", &T::loop, ""),
        field("first", &T::first, "its first destination"), field("count", &T::count, "of destinations"),
        field("work", &T::work, "edges, and 8 for each destination"),
        field("attempt", &T::attempt, "more than 1: it was given to a worker before"),
        field("outcome", &T::outcome,
              "`begun`: it is running; `computed`: it has ended, and this worker has computed at least a part of it; "
              "`found`: others had computed all of it; `lost`: with its worker"),
        field("begin", &T::begin, ""), field("end", &T::end, "null: it is running", Presence::Later, Null::IsDefault),
        field("destinations", &T::destinations, "that this worker has computed", Presence::Later, Null::IsDefault),
        field("written", &T::written, "bytes of stored rows", Presence::Later, Null::IsDefault),
        field("read", &T::read, "bytes of stored rows", Presence::Later, Null::IsDefault),
        field("done", &T::done, "finished destinations of the stage; null if the shard ends after its stage",
              Presence::Later),
        field("time", &T::time, ""));
}

struct BarrierEvent {
    StageId stage{1};
    double time = 0;
};

template <std::same_as<BarrierEvent> T>
constexpr auto fieldsOf(const T*)
{
    return base::described(
        "barrier", base::field("stage", &T::stage, "all of it is finished; no worker starts the next stage earlier"),
        base::field("time", &T::time, ""));
}

struct ReadBackEvent {
    int worker = 1;
    StageId stage{1};
    double begin = 0, end = 0;
    std::int64_t bytes = 0;
};

template <std::same_as<ReadBackEvent> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "read_back", field("worker", &T::worker, "", workerNumbers), field("stage", &T::stage, "that has ended"),
        field("begin", &T::begin, ""), field("end", &T::end, ""),
        field("bytes", &T::bytes,
              "that others have written there since the worker joined, and that it has read back and checked"));
}

using RunEvent = std::variant<PrologueEvent, StageEvent, BatchEvent, PhaseEvent, StageEndEvent, StopEvent, NoteEvent,
                              MergedEvent, WorkerEvent, ShardEvent, BarrierEvent, ReadBackEvent>;

struct RunEvents {
    std::int64_t run = 0;
    RunState state = RunState::Running;
    std::vector<RunEvent> events;
};

struct RunFinished {
    std::int64_t run = 0;
    std::string folder;
    std::optional<schema::Report> report;
    std::string reportText;  // the report as sent, in the form of report.json; empty if the run failed
    std::optional<base::Error> error;
};

json::Value writeEvents(const RunEvents& events);
// Reads a notification of events, ignoring events of unknown types.
base::Result<RunEvents> readEvents(const json::Value& params);
json::Value writeFinished(const RunFinished& finished);
base::Result<RunFinished> readFinished(const json::Value& params);

}  // namespace hopscope::protocol
