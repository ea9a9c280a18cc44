// The numbers of the window, with the goals beside them: how long opening takes after the engine's answer, how long the event
// loop stands still meanwhile and during a run, and how soon a changed cut is seen. Exits with 1 if a goal is missed
// whatever else the machine does.
//
//     test_window window_bench [--quick] [--engine]      --engine: the real engine on a bundled sample, for the stalls of a real run

#include <QCommandLineParser>
#include <cstdio>

#include "base/rules.h"
#include "bed.h"
#include "models/run_log.h"
#include "support/heart_beat.h"
#include "support/qt_suites.h"
#include "support/stop_watch.h"

using namespace hopscope;
using namespace hopscope::window;
using bed::Bed;
using watch::HeartBeat;
using watch::row;
using watch::Span;
using watch::stallRows;
using watch::StopWatch;

namespace {

struct Opening {
    Span answerToView;
    std::vector<Span> stalls;
};

// From the engine's answer (which the player announces) to a picture of the folded graph.
Opening openOnce(const QString& model)
{
    Bed bed;
    bed::waitFor([&] { return bed.window->engine().state() == jobs::EngineState::Ready; });
    StopWatch answered(watch::Whose::Program);  // its worker threads, too
    QObject::connect(&bed.window->engine(), &jobs::EngineClient::notified, bed.window.get(),
                     [&](const QString& method, const json::Value& params) {
                         const json::Value* what = params.find("message");
                         if (method == u"log" && what && *what == json::Value("model/open")) answered.start();
                     });
    HeartBeat heart;
    bed.window->openFile({model, {"graph.safetensors"}, {}});
    bed::waitFor([&] { return bed.window->document().model() && bed.window->graph().layoutReady(); }, 120'000);
    bed.window->graph().grab();
    Opening opening;
    opening.answerToView = answered.elapsed();
    bed::waitFor([&] { return bed.window->document().reference(base::rules.back()) != nullptr; }, 60'000);
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

void benchCuts(const QString& model, const std::string& what, int repeats)
{
    Bed bed;
    bed.open(model);
    const protocol::ValueId stored = bed.window->document().plan()->checkpoints.front().value;
    std::vector<Span> times;
    for (int i = 0; i < repeats; ++i) {
        const models::PlanPtr before = bed.window->document().plan();
        const StopWatch changed(watch::Whose::Program);
        if (i % 2 == 0) bed.window->workbench().pin({base::PinKind::NoCheckpoint, stored});
        else bed.window->workbench().undoStack().undo();
        bed::waitFor([&] { return bed.window->document().plan() != before; });
        bed.window->graph().grab();
        times.push_back(changed.elapsed());
    }
    row(what + ": changed cut -> plan and picture, p95", 100, times, 0.95);
}

// Values that can be stored: of linear maps.
std::vector<protocol::ValueId> storable(const models::Document& document)
{
    std::vector<protocol::ValueId> values;
    for (const protocol::OpRecord& op : document.model()->ops)
        if (op.name == "aten::linear") values.push_back(op.outputs.front());
    return values;
}

// From one place to the next while a checkpoint is dragged: until the picture shows what would follow.
void benchDrag(const QString& model, const std::string& what, int repeats)
{
    Bed bed;
    bed.open(model);
    const models::Document& document = bed.window->document();
    const std::vector<protocol::ValueId> places = storable(document);
    const protocol::ValueId stored = document.plan()->checkpoints.front().value;
    std::vector<Span> times;
    HeartBeat heart;
    for (int i = 0; i < repeats; ++i) {
        const models::PlanPtr before = document.preview().plan;
        const StopWatch moved(watch::Whose::Program);
        bed.window->workbench().previewMove(stored, places[i % 2 == 0 ? 2 : 1]);
        bed::waitFor([&] { return document.preview().plan != before; });
        bed::waitFor([&] { return !bed.window->graph().grab().isNull(); });
        times.push_back(moved.elapsed());
    }
    bed.window->workbench().endPreview();
    row(what + ": dragged -> what would follow, p95", 100, times, 0.95);
    stallRows(what + ": dragging", heart.take());
}

void benchRun(Bed& bed, const char* what, int repeats)
{
    bed.window->docks().setPerspective("run");
    bed::waitFor([] { return false; }, 300);
    HeartBeat heart;
    for (int i = 0; i < repeats; ++i) bed.run();
    stallRows(what, heart.take());
}

void benchAll(int repeats, bool engine)
{
    watch::title();
    benchOpening("chain250.pt", "1,000 ops", repeats);
    benchOpening("chain40-skips-long246.pt", "10,000 ops, 40 stages", repeats);
    benchOpening("chain2500-skips.pt", "10,000 ops, 2,500 stages", repeats);
    benchCuts("chain100-skips.pt", "400 ops", 4 * repeats);
    benchDrag("chain100-skips.pt", "400 ops", 8 * repeats);
    benchDrag("chain40-skips-long246.pt", "10,000 ops, 40 stages", 8 * repeats);
    {
        Bed bed;
        bed.open("chain10.pt");
        bed.setBatches();
        benchRun(bed, "played run, 100 batches in 0.3 s", 2 * repeats);
    }
    if (!engine) return;
    Bed bed(bed::realSetup());
    bed.open(bed::sample("digits/jknet.pt"), {bed::sample("digits/graph.safetensors")});
    benchRun(bed, "real run of digits/jknet", repeats);
}

int windowBench(const QStringList& arguments)
{
    QCommandLineParser parser;
    parser.addOptions({{"quick", "Few repeats."}, {"engine", "Measure a real run, too."}});
    parser.addHelpOption();
    parser.process(arguments);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // every row as soon as it is known
    const int repeats = parser.isSet("quick") ? 1 : 5;
    return watch::untilMet([&] { benchAll(repeats, parser.isSet("engine")); });
}

}  // namespace

HOPSCOPE_QT_PROGRAM(window_bench, windowBench)
