#include "protocol/run.h"

#include "schema/error.h"
#include "json/optional.h"

namespace hopscope::protocol {

using json::Value;

namespace {

Value typed(const char* type)
{
    Value item;
    item["type"] = type;
    return item;
}

Value write(const PrologueEvent& event)
{
    Value item = typed("prologue");
    item["seconds"] = event.seconds;
    return item;
}

Value write(const StageEvent& event)
{
    Value item = typed("stage");
    item["index"] = event.index.number;
    item["count"] = event.count;
    item["destinations"] = event.destinations;
    item["time"] = event.time;
    if (event.shards > 0) {
        item["done"] = event.done;
        item["shards"] = event.shards;
    }
    return item;
}

Value write(const BatchEvent& event)
{
    Value item = typed("batch");
    item["stage"] = event.stage.number;
    item["loop"] = event.loop;
    item["batch"] = event.batch;
    item["destinations"] = event.destinations;
    item["edges"] = event.edges;
    item["frontier"] = event.frontier;
    item["done"] = event.done;
    item["total"] = event.total;
    item["memory"] = event.memory;
    item["peak_memory"] = event.peakMemory;
    item["reserved_memory"] = event.reservedMemory > 0 ? Value(event.reservedMemory) : Value();
    item["time"] = event.time;
    return item;
}

Value write(const PhaseEvent& event)
{
    Value item = typed("phase");
    item["stage"] = event.stage.number;
    item["batch"] = event.batch;
    item["phase"] = phaseName(event.phase);
    item["start"] = event.start;
    item["seconds"] = event.seconds;
    return item;
}

Value write(const StageEndEvent& event)
{
    Value item = typed("stage_end");
    item["index"] = event.index.number;
    item["seconds"] = event.seconds;
    item["overlap"] = json::orNull(event.overlap);
    item["time"] = event.time;
    return item;
}

Value write(const StopEvent& event)
{
    Value item = typed("stop");
    item["op"] = event.op;
    item["value"] = event.value;
    item["stage"] = event.stage.number;
    item["batch"] = event.batch;
    item["breakpoint"] = event.breakpoint;
    item["time"] = event.time;
    return item;
}

Value write(const NoteEvent& event)
{
    Value item = typed("note");
    item["message"] = event.message;
    return item;
}

Value write(const MergedEvent& event)
{
    Value item = typed("merged");
    item["count"] = event.count;
    return item;
}

Value write(const WorkerEvent& event)
{
    Value item = typed("worker");
    item["worker"] = event.worker;
    item["what"] = base::nameOf(event.what);
    item["host"] = event.host;
    item["message"] = event.message.empty() ? Value() : Value(event.message);
    item["time"] = event.time;
    return item;
}

Value write(const ShardEvent& event)
{
    Value item = typed("shard");
    item["worker"] = event.worker;
    item["stage"] = event.stage.number;
    item["outcome"] = base::nameOf(event.outcome);
    item["shard"] = event.shard;
    item["loop"] = event.loop;
    item["first"] = event.first;
    item["count"] = event.count;
    item["work"] = event.work;
    item["attempt"] = event.attempt;
    item["begin"] = event.begin;
    const bool ended = event.outcome != ShardOutcome::Begun;
    item["end"] = ended ? Value(event.end) : Value();
    item["destinations"] = ended ? Value(event.destinations) : Value();
    item["written"] = ended ? Value(event.written) : Value();
    item["read"] = ended ? Value(event.read) : Value();
    item["done"] = json::orNull(event.done);
    item["time"] = event.time;
    return item;
}

Value write(const BarrierEvent& event)
{
    Value item = typed("barrier");
    item["stage"] = event.stage.number;
    item["time"] = event.time;
    return item;
}

Value write(const ReadBackEvent& event)
{
    Value item = typed("read_back");
    item["worker"] = event.worker;
    item["stage"] = event.stage.number;
    item["begin"] = event.begin;
    item["end"] = event.end;
    item["bytes"] = event.bytes;
    return item;
}

}  // namespace

Value writeEvents(const RunEvents& events)
{
    Value params;
    params["run"] = events.run;
    params["state"] = base::nameOf(events.state);
    params["events"] = Value::array();
    for (const RunEvent& event : events.events)
        params["events"].push(std::visit([](const auto& item) { return write(item); }, event));
    return params;
}

Value writeFinished(const RunFinished& finished)
{
    Value params;
    params["run"] = finished.run;
    if (finished.error) {
        params["error"] = schema::errorValue(*finished.error);
        return params;
    }
    params["folder"] = finished.folder;
    params["report"] = finished.report ? schema::reportValue(*finished.report) : Value();
    return params;
}

}  // namespace hopscope::protocol
