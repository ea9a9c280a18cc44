// The numbers of the window, with the goals beside them: how long opening takes after the engine's answer, how long the event
// loop stands still meanwhile and during a run, and how soon a changed cut is seen.
//
//     bench_window [--quick] [--engine]      --engine: the real engine on a bundled sample, for the stalls of a real run

#include <QApplication>
#include <QCommandLineParser>
#include <QElapsedTimer>
#include <QTimer>
#include <cstdio>
#include <ctime>

#include "bed.h"
#include "models/run_log.h"

using namespace hopscope;
using namespace hopscope::window;
using bed::Bed;

namespace {

// Milliseconds on the clock, and those that this thread itself has worked: on a busy machine the first count others, too.
struct Span {
    double wall = 0, work = 0;
};

double threadTime()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

class StopWatch {
public:
    StopWatch() { start(); }
    void start()
    {
        m_wall.start();
        m_work = threadTime();
    }
    [[nodiscard]] Span elapsed() const
    {
        return {static_cast<double>(m_wall.nsecsElapsed()) / 1e6, threadTime() - m_work};
    }

private:
    QElapsedTimer m_wall;
    double m_work = 0;
};

// How long the event loop stood still: a timer that wants to fire every few milliseconds, and when it really does.
class HeartBeat : public QObject {
public:
    HeartBeat()
    {
        connect(&m_timer, &QTimer::timeout, this, [this] {
            const Span gap = m_watch.elapsed();
            m_stalls.push_back({std::max(0.0, gap.wall - period), gap.work});
            m_watch.start();
        });
        m_timer.setTimerType(Qt::PreciseTimer);
        m_timer.start(period);
    }

    std::vector<Span> take() { return std::exchange(m_stalls, {}); }  // since the last time

private:
    static constexpr int period = 4;
    QTimer m_timer;
    StopWatch m_watch;
    std::vector<Span> m_stalls;
};

double quantile(const std::vector<Span>& spans, double Span::*part, double share)
{
    if (spans.empty()) return 0;
    std::vector<double> values;
    for (const Span& span : spans) values.push_back(span.*part);
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void row(const std::string& what, double goal, const std::vector<Span>& spans, double share)
{
    const double wall = quantile(spans, &Span::wall, share), work = quantile(spans, &Span::work, share);
    const char* verdict = wall <= goal ? "met" : work <= goal ? "missed: the machine is busy" : "MISSED";
    std::printf("%-58s %7.0f ms %9.1f ms %9.1f ms   %s\n", what.c_str(), goal, wall, work, verdict);
}

void stallRows(const std::string& what, const std::vector<Span>& stalls)
{
    row(what + ", stall p99", 50, stalls, 0.99);
    row(what + ", longest stall", 100, stalls, 1);
}

struct Opening {
    Span answerToView;
    std::vector<Span> stalls;
};

// From the engine's answer (which the made-up engine announces) to a picture of the folded graph.
Opening openOnce(const QString& model)
{
    Bed bed;
    bed::waitFor([&] { return bed.window->engine().state() == jobs::EngineState::Ready; });
    StopWatch answered;
    QObject::connect(&bed.window->engine(), &jobs::EngineClient::notified, bed.window.get(),
                     [&](const QString& method, const json::Value&) {
                         if (method == u"log") answered.start();
                     });
    HeartBeat heart;
    bed.window->openFile({model, {}, {}});
    bed::waitFor([&] { return bed.window->document().model() && bed.window->graph().layoutReady(); }, 120'000);
    bed.window->graph().grab();
    Opening opening;
    opening.answerToView = answered.elapsed();
    bed::waitFor([&] { return bed.window->document().reference("source-rule") != nullptr; }, 60'000);
    opening.stalls = heart.take();
    return opening;
}

void benchOpening(const QString& model, const std::string& what, int repeats)
{
    std::vector<Span> times, stalls;
    for (int i = 0; i < repeats; ++i) {
        const Opening opening = openOnce(model);
        times.push_back(opening.answerToView);
        stalls.insert(stalls.end(), opening.stalls.begin(), opening.stalls.end());
    }
    row(what + ": answer -> first folded view, p95", 1000, times, 0.95);
    stallRows(what + ": opening", stalls);
}

void benchCuts(int repeats)
{
    Bed bed;
    bed.open("chain100-skips.pt");
    std::vector<Span> times;
    for (int i = 0; i < repeats; ++i) {
        const models::PlanPtr before = bed.window->document().plan();
        const StopWatch watch;
        if (i % 2 == 0) bed.window->workbench().pin({"no_checkpoint", "v5"});
        else bed.window->workbench().undoStack().undo();
        bed::waitFor([&] { return bed.window->document().plan() != before; });
        bed.window->graph().grab();
        times.push_back(watch.elapsed());
    }
    row("400 ops: changed cut -> plan and picture, p95", 100, times, 0.95);
}

void benchRun(Bed& bed, const char* what, int repeats)
{
    bed.window->docks().setPerspective("run");
    bed::waitFor([] { return false; }, 300);
    HeartBeat heart;
    for (int i = 0; i < repeats; ++i) bed.run();
    stallRows(what, heart.take());
}

}  // namespace

int main(int argc, char** argv)
{
    const QApplication application(argc, argv);
    QCommandLineParser parser;
    parser.addOptions({{"quick", "Few repeats."}, {"engine", "Measure a real run, too."}});
    parser.addHelpOption();
    parser.process(application);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // every row as soon as it is known
    const int repeats = parser.isSet("quick") ? 1 : 5;
    std::printf("%-58s %10s %12s %12s\n", "what", "goal", "measured", "own work");
    benchOpening("chain250.pt", "1,000 ops", repeats);
    benchOpening("chain2500-skips.pt", "10,000 ops", repeats);
    benchCuts(4 * repeats);
    {
        Bed bed;
        bed.open("chain10.pt");
        benchRun(bed, "made-up run, 100 batches in 0.3 s", 2 * repeats);
    }
    if (parser.isSet("engine")) {
        Bed bed(bed::realSetup());
        bed.open(bed::sample("digits/jknet.pt"), {bed::sample("digits/graph.safetensors")});
        benchRun(bed, "real run of digits/jknet", repeats);
    }
    return 0;
}
