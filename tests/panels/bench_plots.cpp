// What showing a run costs while it goes on: 1,000,000 batches and 1,000,000 phases arrive in messages of 33 ms; all plots
// and the timeline are visible and repainted at the rate of the window; and a run of 16 workers, whose lanes fill up with
// 10,000 shards. Prints a table with goals; exits with 1 if one is missed three times in a row. Seconds are what the GUI
// thread really worked.

#include <QThread>
#include <cstdio>

#include "models/run_log.h"
#include "panels/run_feed.h"
#include "plots/frame_clock.h"
#include "plots/worker_lanes.h"
#include "support/qt_suites.h"
#include "support/stop_watch.h"

using namespace hopscope;

namespace {

constexpr int points = 1'000'000;
constexpr int messages = 1800;  // a minute of a run at 30 Hz
constexpr double runSeconds = messages / 30.0;

double cpuSeconds() { return watch::workTime(watch::Whose::Thread) / 1000; }

struct View {
    plots::StageBars bars;
    plots::TimePlot memory{QStringLiteral("Device memory"), plots::Unit::Bytes};
    plots::TimePlot rate{QStringLiteral("Destinations per second"), plots::Unit::Count};
    plots::TimePlot size{QStringLiteral("Destinations per batch"), plots::Unit::Count};
    plots::Timeline timeline;
    panels::BatchFeed batches{memory.series(), memory.second(), rate.series(), size.series()};
    panels::PhaseFeed phases{timeline};
    double openEnd = 0;
    int frames = 0;

    View()
    {
        const style::Theme theme = style::loadTheme(style::Mode::Light);
        bars.setTheme(theme);
        timeline.setTheme(theme);
        bars.resize(700, 220);
        timeline.resize(900, 160);
        for (plots::TimePlot* plot : {&memory, &rate, &size}) {
            plot->setTheme(theme);
            plot->resize(plot == &memory ? 700 : 340, plot == &memory ? 220 : 160);
            plot->show();
        }
        bars.show();
        timeline.show();
    }

    void feed(const models::RunLog& log)
    {
        batches.read(&log);
        phases.read(&log);
    }

    void frame(const models::RunLog& log)
    {
        if (frames++ % 15 == 0) bars.setRuns({panels::stageRun(QStringLiteral("run"), log, nullptr)});
        openEnd = plots::growingEnd(openEnd, log.elapsed());
        const auto bands = panels::bandsOf(log, nullptr, openEnd);
        for (plots::TimePlot* plot : {&memory, &rate, &size}) {
            plot->setBands(bands);
            plot->setEnd(log.elapsed(), false);
            plot->refresh();
        }
        timeline.refresh();
        QCoreApplication::processEvents();  // the painting itself
    }
};

protocol::RunEvents message(int number)
{
    protocol::RunEvents made;
    const int each = points / messages;
    for (int at = 0; at < each; ++at) {
        const int batch = number * each + at;
        const double now = runSeconds * batch / points;
        protocol::BatchEvent event;
        event.stage = protocol::StageId(1 + 3 * number / messages);
        event.batch = batch;
        event.destinations = 64;
        event.done = batch;
        event.total = points;
        event.memory = (batch * 7919LL) % 1'000'003;
        event.peakMemory = event.memory + 1000;
        event.time = now;
        made.events.emplace_back(event);
        made.events.emplace_back(
            protocol::PhaseEvent{event.stage, batch, plan::Phase(batch % 6), now, runSeconds / points});
    }
    return made;
}

void row(const char* what, double value, const char* unit, double goal)
{
    std::printf("%-44s %10.3f %-4s  goal %8.3f  %s\n", what, value, unit, goal, watch::verdict(goal, {value, value}));
}

void measureRun()
{
    View view;
    models::RunLog log(nullptr, 2 * static_cast<std::size_t>(points));
    QCoreApplication::processEvents();
    double ingest = 0, feed = 0, paint = 0, worst = 0;
    for (int number = 0; number < messages; ++number) {
        const protocol::RunEvents events = message(number);
        const double begin = cpuSeconds();
        log.apply(events);
        const double applied = cpuSeconds();
        view.feed(log);
        const double fed = cpuSeconds();
        view.frame(log);
        const double painted = cpuSeconds();
        ingest += applied - begin;
        feed += fed - applied;
        paint += painted - fed;
        worst = std::max(worst, painted - fed);
    }
    std::printf("%d batches and %d phases in %d messages, %.0f s of run at 30 Hz, %d cores\n", points, points, messages,
                runSeconds, QThread::idealThreadCount());
    row("taking events in, of the run's time", 100 * ingest / runSeconds, "%", 2);
    row("bringing them to the plots, of the run's time", 100 * feed / runSeconds, "%", 2);
    row("one frame of five plots, mean", 1000 * paint / messages, "ms", 16.6);
    row("one frame of five plots, worst", 1000 * worst, "ms", 100);
    std::printf("%-44s %10.3f %%\n", "frames, of one core", 100 * paint / runSeconds);
    row("all of it, of the machine", 100 * (ingest + feed + paint) / runSeconds / QThread::idealThreadCount(), "%", 2);
}

constexpr int workers = 16, shards = 10'000, laneFrames = 200;

protocol::RunEvents joined()
{
    protocol::RunEvents made;
    for (int worker = 1; worker <= workers; ++worker)
        for (const protocol::WorkerNews news : {protocol::WorkerNews::Starting, protocol::WorkerNews::Joined})
            made.events.emplace_back(protocol::WorkerEvent{worker, news, "node", "", 0});
    return made;
}

// What the workers have computed between two frames; now and then in a second attempt.
protocol::RunEvents computed(int frame)
{
    protocol::RunEvents made;
    for (int at = frame * shards / laneFrames; at < (frame + 1) * shards / laneFrames; ++at) {
        protocol::ShardEvent event{.worker = 1 + at % workers, .stage = protocol::StageId(1), .shard = at + 1};
        event.outcome = protocol::ShardOutcome::Computed;
        event.count = event.work = 10;
        event.attempt = at % 50 == 0 ? 2 : 1;
        event.begin = at / workers * 0.1;
        event.end = event.time = event.begin + 0.09;
        made.events.emplace_back(event);
    }
    return made;
}

void measureLanes()
{
    const auto log = std::make_shared<models::RunLog>();
    log->apply(joined());
    plots::WorkerLanes lanes;
    lanes.setTheme(style::loadTheme(style::Mode::Light));
    lanes.display(log);
    lanes.resize(900, lanes.sizeHint().height());
    lanes.show();
    double paint = 0, worst = 0;
    for (int frame = 0; frame < laneFrames; ++frame) {
        log->apply(computed(frame));
        const double begin = cpuSeconds();
        lanes.display(log);
        lanes.grab();  // paints all of it, seen or not
        const double took = cpuSeconds() - begin;
        paint += took;
        worst = std::max(worst, took);
    }
    row("one frame of lanes of 16 workers, mean", 1000 * paint / laneFrames, "ms", 16.6);
    row("one frame of lanes of 16 workers, worst", 1000 * worst, "ms", 100);
}

void measure()
{
    measureRun();
    measureLanes();
}

}  // namespace

HOPSCOPE_QT_PROGRAM(plots_bench, [](const QStringList&) { return watch::untilMet(measure); })
