// What is said of a run while and after it goes on, on a CPU and on a GPU, whose batches overlap.

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "cli/describe.h"
#include "cli/observers.h"
#include "server/run_observer.h"
#include "json/json.h"

using namespace hopscope;
using executor::Phase;
using plan::StageId;

namespace {

// Three batches on a GPU, told batch by batch as the executor does. A batch's phases follow each other and take a second,
// computing two; batches begin two seconds apart.
void play(executor::Observer& observer)
{
    observer.prologueStarted();
    observer.prologueFinished(1);
    observer.stageStarted({StageId(1), 1, 30});
    for (int batch = 0; batch < 3; ++batch) {
        double now = 1 + 2 * batch;
        for (int phase = 0; phase < executor::phaseCount; ++phase) {
            const double seconds = static_cast<Phase>(phase) == Phase::Compute ? 2 : 1;
            observer.phaseFinished({StageId(1), batch, static_cast<Phase>(phase), now, seconds});
            now += seconds;
        }
        executor::BatchEvent event;
        event.batch = batch;
        event.reservedMemory = 4096;
        observer.batchFinished(event);
    }
    observer.stageFinished(StageId(1), 11);
}

json::Value traceOf(void (*run)(executor::Observer&))
{
    const std::string file =
        std::filesystem::temp_directory_path() / ("trace-" + std::to_string(std::rand()) + ".json");
    auto trace = engine::TraceObserver::create(file);
    REQUIRE(trace);
    run(**trace);
    REQUIRE((*trace)->publish());
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    std::filesystem::remove(file);
    return json::parse(text.str(), file).value();
}

struct Span {
    double begin, end;
};

// By the names of the lanes.
std::map<std::string, std::vector<Span>> lanesOf(const json::Value& trace)
{
    std::map<std::int64_t, std::string> names;
    std::map<std::string, std::vector<Span>> lanes;
    for (const json::Value& event : *trace.find("traceEvents")->asArray()) {
        const std::int64_t lane = *event.find("tid")->asInt();
        if (*event.find("ph")->asString() == "M") names[lane] = *event.find("args")->find("name")->asString();
        if (*event.find("ph")->asString() != "X") continue;
        const double begin = *event.find("ts")->asDouble() / 1e6;
        lanes[names.at(lane)].push_back({begin, begin + *event.find("dur")->asDouble() / 1e6});
    }
    return lanes;
}

schema::Report gpuReport()
{
    schema::Report report;
    report.device = "cuda:0";
    report.stages.resize(2);
    for (schema::StageRecord& stage : report.stages) {
        stage.seconds = 2;
        stage.phases = {0.1, 0.1, 0.5, 1.5, 0.5, 0.1};
        stage.reservedMemory = std::int64_t{3} << 20;
    }
    report.stages[0].overlap = 0.75;
    report.stages[1].overlap = 0.25;
    return report;
}

}  // namespace

TEST_CASE("in a trace every phase has a lane of its own, and overlapping batches stand side by side in them")
{
    const auto lanes = lanesOf(traceOf(play));
    REQUIRE(lanes.size() == 1 + executor::phaseCount);
    for (const auto& [name, spans] : lanes)
        for (std::size_t at = 1; at < spans.size(); ++at) {
            INFO(name << " " << at);
            CHECK(spans[at - 1].end <= spans[at].begin);
        }
    // While the first batch is computed the second one is copied in.
    CHECK(lanes.at("h2d")[1].begin > lanes.at("compute")[0].begin);
    CHECK(lanes.at("h2d")[1].end <= lanes.at("compute")[0].end);
}

TEST_CASE("in a trace a stage begins after the prologue and covers the phases of its batches")
{
    const auto lanes = lanesOf(traceOf(play));
    const Span stage = lanes.at("stages").front();
    CHECK(stage.begin == 1);
    CHECK(stage.end >= lanes.at("write").back().end);
}

TEST_CASE("in a trace a stage begins when the one before has ended, which may be after its last phase")
{
    const auto lanes = lanesOf(traceOf([](executor::Observer& observer) {
        for (int stage = 1; stage <= 2; ++stage) {
            observer.stageStarted({StageId(stage), 2, 10});
            observer.phaseFinished({StageId(stage), 0, Phase::Write, 5.0 * (stage - 1), 1});
            observer.stageFinished(StageId(stage), 4);
        }
    }));
    const std::vector<Span>& stages = lanes.at("stages");
    CHECK(stages[0].end == 4);
    CHECK(stages[1].begin == 4);
}

TEST_CASE("what happens without a time of its own stands after the latest phase, not the last one told")
{
    const json::Value trace = traceOf([](executor::Observer& observer) {
        observer.phaseFinished({StageId(1), 1, Phase::Write, 5, 1});
        observer.phaseFinished({StageId(1), 0, Phase::Block, 0, 1});
        observer.note("here");
    });
    const json::Value& note = trace.find("traceEvents")->asArray()->back();
    CHECK(*note.find("name")->asString() == "here");
    CHECK(*note.find("ts")->asDouble() == 6e6);
}

TEST_CASE("the client of a run on a GPU hears how much copying and computing overlapped, and what is reserved")
{
    std::vector<protocol::RunEvent> heard;
    {
        engine::EventFeed feed(1, [&](const protocol::RunEvents& message) {
            heard.insert(heard.end(), message.events.begin(), message.events.end());
        });
        engine::RunGate gate(false);
        engine::ServedRun run(feed, gate, {}, false);
        play(run);
    }
    const auto& end = std::get<protocol::StageEndEvent>(heard.back());
    REQUIRE(end.overlap);
    CHECK(*end.overlap == doctest::Approx(2.0 / 3));  // copies from 3 to 4, 5 to 9 and 10 to 11, computing from 4 to 10
    CHECK(std::get<protocol::BatchEvent>(heard[heard.size() - 2]).reservedMemory == 4096);
}

TEST_CASE("a run on a CPU copies nothing, so that nothing is said of an overlap")
{
    std::vector<protocol::RunEvent> heard;
    {
        engine::EventFeed feed(1, [&](const protocol::RunEvents& message) {
            heard.insert(heard.end(), message.events.begin(), message.events.end());
        });
        engine::RunGate gate(false);
        engine::ServedRun run(feed, gate, {}, false);
        run.stageStarted({StageId(1), 1, 10});
        run.phaseFinished({StageId(1), 0, Phase::Compute, 0, 1});
        run.stageFinished(StageId(1), 1);
    }
    CHECK_FALSE(std::get<protocol::StageEndEvent>(heard.back()).overlap);
}

TEST_CASE("the table of a run on a GPU has the overlap and what was reserved, and a line for the whole run")
{
    const std::string text = engine::describeRun(gpuReport(), engine::Style{false}, {});
    for (const char* words :
         {"overlap", "reserved", "75 %", "25 %", "3.0 MiB", "copying hidden behind computation: 50 %\n"})
        CHECK_MESSAGE(text.find(words) != std::string::npos, words << " is not in\n" << text);
}

TEST_CASE("the table of a run has every figure that has a label")
{
    schema::Report report = gpuReport();
    base::forEachField<plan::StageFigures>([&]<class M>(const plan::Figure<M>& figure) {
        if constexpr (std::convertible_to<int, M>) report.stages.front().*figure.member = M(3);
    });
    const std::string text = engine::describeRun(report, engine::Style{false}, {});
    plan::forEachLabelled({}, [&](const auto& figure, auto) {
        CHECK_MESSAGE(text.find(figure.label) != std::string::npos, figure.label << " is not in\n" << text);
    });
}

TEST_CASE("where copying takes longer than computing nothing is called hidden")
{
    schema::Report report = gpuReport();
    for (schema::StageRecord& stage : report.stages) stage.phases.h2d = 9;
    const std::string text = engine::describeRun(report, engine::Style{false}, {});
    CHECK(text.find("copying and computation overlapped for 50 % of the shorter of the two") != std::string::npos);
    CHECK(text.find("hidden") == std::string::npos);
}

TEST_CASE("the table of a run on a CPU has nothing of a GPU")
{
    schema::Report report = gpuReport();
    for (schema::StageRecord& stage : report.stages) {
        stage.overlap = {}, stage.reservedMemory = {};
        stage.phases.h2d = stage.phases.d2h = 0;
    }
    const std::string text = engine::describeRun(report, engine::Style{true}, {.rates = true, .phases = true});
    CHECK(text.find("compute") != std::string::npos);
    for (const char* words : {"overlap", "reserved", "hidden", "at once", "h2d", "d2h"})
        CHECK_MESSAGE(text.find(words) == std::string::npos, words);
}

TEST_CASE("the table of a run has phases, predictions and shares of the roofline only where they are wanted and known")
{
    schema::Report report = gpuReport();
    const auto has = [&](const engine::RunColumns& columns, const char* words) {
        return engine::describeRun(report, engine::Style{false}, columns).find(words) != std::string::npos;
    };
    CHECK_FALSE(has({.phases = false}, "compute"));
    CHECK(has({.phases = true}, "compute"));
    CHECK(has({.phases = true}, "h2d"));
    for (const char* words : {"predicted", "of roofline"}) CHECK_FALSE(has({.rates = true}, words));
    schema::StageRecord& stage = report.stages.front();
    stage.seconds = 2, stage.boundSeconds = 0.5, stage.wall = plan::Wall::Gemm;
    stage.predicted.emplace().seconds = 1.5;
    for (const char* words : {"predicted", "1.50 s", "of roofline", "25 % (matrix products)"}) {
        CHECK_MESSAGE(has({.rates = true}, words), words);
        CHECK_MESSAGE(!has({.rates = false}, words), words);
    }
}
