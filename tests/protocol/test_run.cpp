#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "protocol/run.h"
#include "schema/fixture.h"

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
                     StageEvent{StageId(1), 2, 34, 0.75},
                     BatchEvent{StageId(1), "node", 4, 8, 16, 12, 24, 34, 1000, 2000, 1.5, 4000},
                     PhaseEvent{StageId(1), 4, 3, 1.25, 0.125},
                     StageEndEvent{StageId(1), 2.5, 3.0, 0.75},
                     NoteEvent{"smaller"},
                     MergedEvent{99},
                     WorkerEvent{2, WorkerNews::Lost, "node-b", "the engine was killed", 3.5},
                     ended(),
                     BarrierEvent{StageId(1), 5.0},
                     ReadBackEvent{2, StageId(1), 5.0, 5.5, 8192}};
    return events;
}

// What only a GPU has, and what a shard has only once it has ended.
bool mayBeMissing(const std::string& pointer)
{
    const auto isOne = [&](const char* name) { return pointer.ends_with(name); };
    return std::ranges::any_of(std::to_array({"/reserved_memory", "/overlap", "/message", "/end", "/destinations",
                                              "/written", "/read", "/done"}),
                               isOne) &&
           (pointer.starts_with("/events/2/") || pointer.starts_with("/events/4/") ||
            pointer.starts_with("/events/7/") || pointer.starts_with("/events/8/"));
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
    CHECK(std::string(phaseName(std::get<PhaseEvent>(read->events[3]).phase)) == "compute");
}

TEST_CASE("every field of every event is needed, and its kind too")
{
    const std::string text = json::write(writeEvents(everything()));
    const auto mutations = fixture::mutations(text);
    REQUIRE(mutations.size() > 50);
    for (const fixture::Mutation& mutation : mutations) {
        const auto read = readEvents(json::parse(mutation.text).value());
        INFO(mutation.pointer << " " << mutation.what);
        if (mutation.what == "missing" && mayBeMissing(mutation.pointer)) continue;
        REQUIRE_FALSE(read);
        CHECK(read.error().where.find(mutation.pointer) != std::string::npos);
    }
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
    json::Value text = writeEvents({3, RunState::Running, {begun, StageEvent{StageId(2), 3, 34, 0.75, 12, 16}}});
    json::Array& written = *text["events"].asArray();
    CHECK(written[0].find("end")->isNull());
    CHECK(written[0].find("written")->isNull());
    auto read = readEvents(text);
    REQUIRE_MESSAGE(read, base::describe(read.error()));
    CHECK(std::get<ShardEvent>(read->events[0]).end == begun.begin);
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
