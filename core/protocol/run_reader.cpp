#include <map>

#include "protocol/run.h"
#include "schema/error.h"
#include "schema/stages.h"
#include "json/names.h"

namespace hopscope::protocol {

namespace {

using json::Reader;

constexpr int mostWorkers = 4096;

int phaseOf(const Reader& reader)
{
    const auto name = reader.as<std::string>();
    for (int phase = 0; phase < phaseCount; ++phase)
        if (name == phaseName(phase)) return phase;
    reader.refuse("is '" + name + "', which is not a phase");
    return 0;
}

RunEvent prologue(const Reader& item) { return PrologueEvent{item.get<double>("seconds")}; }

RunEvent stage(const Reader& item)
{
    return StageEvent{.index = schema::readStage(item.child("index")),
                      .count = item.get<int>("count"),
                      .destinations = item.get<std::int64_t>("destinations"),
                      .time = item.get<double>("time"),
                      .done = item.maybe<std::int64_t>("done").value_or(0),
                      .shards = item.maybe<int>("shards").value_or(0)};
}

RunEvent batch(const Reader& item)
{
    BatchEvent event;
    event.stage = schema::readStage(item.child("stage"));
    event.loop = item.get<std::string>("loop");
    event.batch = item.get<std::int64_t>("batch");
    event.destinations = item.get<std::int64_t>("destinations");
    event.edges = item.get<std::int64_t>("edges");
    event.frontier = item.get<std::int64_t>("frontier");
    event.done = item.get<std::int64_t>("done");
    event.total = item.get<std::int64_t>("total");
    event.memory = item.get<std::int64_t>("memory");
    event.peakMemory = item.get<std::int64_t>("peak_memory");
    event.time = item.get<double>("time");
    event.reservedMemory = item.maybe<std::int64_t>("reserved_memory").value_or(0);
    return event;
}

RunEvent phase(const Reader& item)
{
    return PhaseEvent{.stage = schema::readStage(item.child("stage")),
                      .batch = item.get<std::int64_t>("batch"),
                      .phase = phaseOf(item.child("phase")),
                      .start = item.get<double>("start"),
                      .seconds = item.get<double>("seconds")};
}

RunEvent stageEnd(const Reader& item)
{
    return StageEndEvent{.index = schema::readStage(item.child("index")),
                         .seconds = item.get<double>("seconds"),
                         .time = item.get<double>("time"),
                         .overlap = item.maybe<double>("overlap")};
}

RunEvent stop(const Reader& item)
{
    return StopEvent{.op = item.get<std::string>("op"),
                     .value = item.get<std::string>("value"),
                     .stage = schema::readStage(item.child("stage")),
                     .batch = item.get<std::int64_t>("batch"),
                     .breakpoint = item.get<bool>("breakpoint"),
                     .time = item.get<double>("time")};
}

RunEvent note(const Reader& item) { return NoteEvent{item.get<std::string>("message")}; }

RunEvent merged(const Reader& item) { return MergedEvent{item.get<std::int64_t>("count")}; }

int workerOf(const Reader& item)
{
    const auto number = item.get<int>("worker");
    if (number < 1 || number > mostWorkers) item.child("worker").refuse("must be 1 to " + std::to_string(mostWorkers));
    return number;
}

RunEvent worker(const Reader& item)
{
    return WorkerEvent{.worker = workerOf(item),
                       .what = json::named<WorkerNews>(item, "what"),
                       .host = item.get<std::string>("host"),
                       .message = item.maybe<std::string>("message").value_or(""),
                       .time = item.get<double>("time")};
}

RunEvent shard(const Reader& item)
{
    ShardEvent event;
    event.worker = workerOf(item);
    event.stage = schema::readStage(item.child("stage"));
    event.outcome = json::named<ShardOutcome>(item, "outcome");
    event.shard = item.get<int>("shard");
    event.loop = item.get<int>("loop");
    event.first = item.get<std::int64_t>("first");
    event.count = item.get<std::int64_t>("count");
    event.work = item.get<double>("work");
    event.attempt = item.get<int>("attempt");
    event.begin = item.get<double>("begin");
    event.end = item.maybe<double>("end").value_or(event.begin);
    event.destinations = item.maybe<std::int64_t>("destinations").value_or(0);
    event.written = item.maybe<std::int64_t>("written").value_or(0);
    event.read = item.maybe<std::int64_t>("read").value_or(0);
    event.done = item.maybe<std::int64_t>("done");
    event.time = item.get<double>("time");
    return event;
}

RunEvent barrier(const Reader& item)
{
    return BarrierEvent{.stage = schema::readStage(item.child("stage")), .time = item.get<double>("time")};
}

RunEvent readBack(const Reader& item)
{
    return ReadBackEvent{.worker = workerOf(item),
                         .stage = schema::readStage(item.child("stage")),
                         .begin = item.get<double>("begin"),
                         .end = item.get<double>("end"),
                         .bytes = item.get<std::int64_t>("bytes")};
}

const std::map<std::string, RunEvent (*)(const Reader&), std::less<>> eventReaders{
    {"prologue", prologue},  {"stage", stage}, {"batch", batch},     {"phase", phase},
    {"stage_end", stageEnd}, {"stop", stop},   {"note", note},       {"merged", merged},
    {"worker", worker},      {"shard", shard}, {"barrier", barrier}, {"read_back", readBack}};

}  // namespace

base::Result<RunEvents> readEvents(const json::Value& params)
{
    const Reader root(params, "run/events");
    RunEvents events;
    events.run = root.get<std::int64_t>("run");
    events.state = json::named<RunState>(root, "state");
    for (const Reader& item : root.items("events")) {
        const auto read = eventReaders.find(item.get<std::string>("type"));
        if (read != eventReaders.end()) events.events.push_back(read->second(item));
    }
    if (!root.ok()) return base::forward(root.status());
    return events;
}

base::Result<RunFinished> readFinished(const json::Value& params)
{
    const Reader root(params, "run/finished");
    RunFinished finished;
    finished.run = root.get<std::int64_t>("run");
    const bool failed = root.has("error");
    if (failed) finished.error = schema::errorFrom(root.child("error"));
    else finished.folder = root.get<std::string>("folder");
    if (root.ok() && !failed) finished.reportText = json::write(root.child("report").value(), true);
    if (!root.ok()) return base::forward(root.status());
    if (failed) return finished;
    base::Result<schema::Report> report = schema::readReport(finished.reportText, "run/finished /report");
    if (!report) return base::forward(report);
    finished.report = std::move(*report);
    return finished;
}

}  // namespace hopscope::protocol
