#include <doctest/doctest.h>

#include "protocol/messages.h"
#include "protocol/run.h"

using namespace hopscope;
using namespace hopscope::protocol;

namespace {

ShardEvent ended()
{
    ShardEvent event{.worker = 2, .stage = StageId(1), .outcome = ShardOutcome::Computed, .shard = 14, .loop = 1};
    event.first = 300;
    event.count = 200;
    event.work = 5600;
    event.attempt = 2;
    event.begin = 4;
    event.end = 4.5;
    event.destinations = 150;
    event.written = 4096;
    event.read = 16384;
    event.done = 500;
    event.time = 4.5;
    return event;
}

RunEvents everything()
{
    RunEvents events{3, RunState::Paused, {}};
    events.events = {PrologueEvent{0.5},
                     StageEvent{StageId(1), 2, 34, 0.75, 12, 16},
                     BatchEvent{StageId(1), "node", 4, 8, 16, 12, 24, 34, 1000, 2000, 1.5, 4000},
                     PhaseEvent{StageId(1), 4, Phase::Compute, 1.25, 0.125, 1},
                     StageEndEvent{StageId(1), 2.5, 3.0, 0.75},
                     StopEvent{"op4", "v9", StageId(1), 2, true, 3.25},
                     NoteEvent{"smaller"},
                     MergedEvent{99},
                     WorkerEvent{2, WorkerNews::Lost, "node-b", "the engine was killed", 3.5},
                     ended(),
                     BarrierEvent{StageId(1), 5.0},
                     ReadBackEvent{2, StageId(1), 5.0, 5.5, 8192}};
    return events;
}

// A message of one event, with its schema.
template <base::Described T>
void checkEvent(const T& event)
{
    json::Value definitions = json::Value::object(), one = json::objectSchema<T>(definitions),
                schema = json::typed("object");
    one["properties"]["type"] = json::typed("string");
    one["required"].push("type");
    for (const char* const each : {"run", "state", "events"}) {
        schema["properties"][each] = json::Value::object();
        schema["required"].push(each);
    }
    schema["properties"]["events"]["items"] = std::move(one);
    described::checkMembers(json::write(writeEvents({3, RunState::Running, {event}})), "", described::Schema(schema),
                            [](const json::Value& message, const std::string&) { return readEvents(message); });
}

}  // namespace

TEST_CASE("every kind of event survives writing and reading")
{
    const json::Value text = writeEvents(everything());
    const auto read = readEvents(text);
    REQUIRE_MESSAGE(read, base::describe(read.error()));
    CHECK(read->run == 3);
    CHECK(read->state == RunState::Paused);
    REQUIRE(read->events.size() == everything().events.size());
    CHECK(json::write(writeEvents(*read)) == json::write(text));
    CHECK(std::get<BatchEvent>(read->events[2]).peakMemory == 2000);
    CHECK(std::get<PhaseEvent>(read->events[3]).phase == Phase::Compute);
}

TEST_CASE("each event refuses what its table does not allow")
{
    for (const RunEvent& event : everything().events) std::visit([](const auto& each) { checkEvent(each); }, event);
}

TEST_CASE("what only a GPU has is null on a CPU, and engines may leave it out")
{
    RunEvents events{3, RunState::Running, {BatchEvent{}, StageEndEvent{}}};
    json::Value text = writeEvents(events);
    json::Array& written = *text["events"].asArray();
    CHECK(written[0].find("reserved_memory")->isNull());
    CHECK(written[1].find("overlap")->isNull());
    written[0].asObject()->erase("reserved_memory");
    written[1].asObject()->erase("overlap");
    const auto read = readEvents(text);
    REQUIRE_MESSAGE(read, base::describe(read.error()));
    CHECK(std::get<BatchEvent>(read->events[0]).reservedMemory == 0);
    CHECK_FALSE(std::get<StageEndEvent>(read->events[1]).overlap);
}

TEST_CASE("a shard that is under way has no end and no figures, and workers are numbered from 1")
{
    ShardEvent begun = ended();
    begun.outcome = ShardOutcome::Begun;
    begun.end = 0;
    begun.destinations = begun.written = begun.read = 0;
    json::Value text = writeEvents({3, RunState::Running, {begun, StageEvent{StageId(2), 3, 34, 0.75, 12, 16}}});
    json::Array& written = *text["events"].asArray();
    CHECK(written[0].find("end")->isNull());
    CHECK(written[0].find("written")->isNull());
    auto read = readEvents(text);
    REQUIRE_MESSAGE(read, base::describe(read.error()));
    CHECK(std::get<ShardEvent>(read->events[0]).end == 0);
    CHECK(std::get<StageEvent>(read->events[1]).done == 12);
    CHECK(std::get<StageEvent>(read->events[1]).shards == 16);
    for (const int number : {0, -1, 5000}) {
        written[0]["worker"] = number;
        read = readEvents(text);
        REQUIRE_FALSE(read);
        CHECK(read.error().where.find("/events/0/worker") != std::string::npos);
    }
}

TEST_CASE("kinds of events that are not known yet are passed over")
{
    json::Value text = writeEvents(everything());
    json::Value fresh;
    fresh["type"] = "temperature";
    text["events"].push(fresh);
    CHECK(readEvents(text)->events.size() == everything().events.size());
}

TEST_CASE("the end of a run carries its report or its error")
{
    RunFinished done;
    done.run = 4;
    done.folder = "results";
    done.report = fixture::report();
    const auto read = readFinished(writeFinished(done));
    REQUIRE_MESSAGE(read, base::describe(read.error()));
    CHECK(read->report == fixture::report());
    CHECK(read->folder == "results");
    CHECK(read->reportText == schema::writeReport(fixture::report()));
    RunFinished bad;
    bad.run = 5;
    bad.error = base::Error{base::ErrorCode::Cancelled, "cancelled", "hint", "where"};
    const auto failed = readFinished(writeFinished(bad));
    REQUIRE_MESSAGE(failed, base::describe(failed.error()));
    CHECK(failed->error->code == base::ErrorCode::Cancelled);
    CHECK(failed->error->hint == "hint");
    CHECK_FALSE(failed->report);
    CHECK_FALSE(readFinished(json::Value::object()));
}
