#pragma once

// The events that a run reports to its client.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

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

using plan::phaseCount;
inline const char* phaseName(int phase) { return plan::namedPhases.at(static_cast<std::size_t>(phase)).name; }

struct PrologueEvent {
    double seconds = 0;
};
struct StageEvent {
    StageId index{1};
    int count = 1;
    std::int64_t destinations = 0;
    double time = 0;
    // With several workers: the destinations finished earlier, and the number of shards that the stage is divided into.
    std::int64_t done = 0;
    int shards = 0;
};
struct BatchEvent {
    StageId stage{1};
    std::string loop;
    std::int64_t batch = 0, destinations = 0, edges = 0, frontier = 0, done = 0, total = 0, memory = 0, peakMemory = 0;
    double time = 0;
    std::int64_t reservedMemory = 0;  // of a GPU: taken from the driver; 0: a CPU
};
// On a GPU, phases of different batches overlap, and are reported batch by batch.
struct PhaseEvent {
    StageId stage{1};
    std::int64_t batch = 0;
    int phase = 0;  // position in plan::namedPhases
    double start = 0, seconds = 0;
};
struct StageEndEvent {
    StageId index{1};
    double seconds = 0, time = 0;
    std::optional<double> overlap{};  // of a GPU: as in a report
};
// The run has stopped after an operator of a batch, with its result.
struct StopEvent {
    std::string op, value;  // ids
    StageId stage{1};
    std::int64_t batch = 1;   // of the stage, from 1
    bool breakpoint = false;  // else it was stepped to
    double time = 0;
};
struct NoteEvent {
    std::string message;
};
struct MergedEvent {
    std::int64_t count = 0;
};

// ---- events of a run on several workers, which are numbered from 1

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
    std::string host, message;  // message: the reason why it was lost or refused, or the step that takes long
    double time = 0;
};

enum class ShardOutcome : std::uint8_t {
    Begun,     // it is running
    Computed,  // it has ended; at least a part of it was computed by this worker
    Found,     // others had computed all of it
    Lost,      // with its worker
};
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
    int shard = 1;  // its number in the stage
    int loop = 1;
    std::int64_t first = 0, count = 0;                // destinations
    double work = 0;                                  // edges, and 8 for each destination
    int attempt = 1;                                  // more than 1: it has been given to a worker before
    double begin = 0, end = 0;                        // end: of one that has ended
    std::int64_t destinations = 0;                    // that this worker has computed of it
    std::int64_t written = 0, read = 0;               // bytes of stored rows
    std::optional<std::int64_t> done = std::nullopt;  // destinations finished in the stage so far
    double time = 0;
};
// All shards of the stage are finished; no worker starts the next stage before that.
struct BarrierEvent {
    StageId stage{1};
    double time = 0;
};
// A worker has read back and checked the rows that others wrote in a stage.
struct ReadBackEvent {
    int worker = 1;
    StageId stage{1};
    double begin = 0, end = 0;
    std::int64_t bytes = 0;
};

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
    std::string reportText;  // the text of report.json as sent; empty with an error
    std::optional<base::Error> error;
};

json::Value writeEvents(const RunEvents& events);
base::Result<RunEvents> readEvents(const json::Value& params);
json::Value writeFinished(const RunFinished& finished);
base::Result<RunFinished> readFinished(const json::Value& params);

}  // namespace hopscope::protocol
