// Takes the pictures of the window that the documentation shows, and checks each: no text clipped, nothing overlapping,
// legible colours. Exits with 1 if a check found something.

#include <QComboBox>
#include <QCommandLineParser>
#include <QDir>
#include <QLineEdit>
#include <QPushButton>
#include <QTabWidget>
#include <cstdio>

#include "bed.h"
#include "checks.h"
#include "graphview/view/graph_view.h"
#include "help.h"
#include "jobs/player.h"
#include "models/run_log.h"
#include "study/animation/animation_panel.h"
#include "study/debugger/debug_panel.h"
#include "study/receptive/receptive_panel.h"
#include "study/rules/rules_panel.h"
#include "study/tensors/follow_panel.h"
#include "study/tensors/tensor_panel.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::window;
using bed::Bed;

namespace {

constexpr int restMilliseconds = 600;  // animations and plots come to rest

void rest(int milliseconds = restMilliseconds)
{
    bed::waitFor([] { return false; }, milliseconds);
}

bool openSample(Bed& bed, const QString& name)
{
    const QString model = bed::sample(name);
    return bed.open(model, {QFileInfo(model).path() + QStringLiteral("/graph.safetensors")});
}

// The last operator of a kind: deep enough to have a reason for its depth.
void selectLast(Bed& bed, protocol::NodeKind kind)
{
    const protocol::ModelRecord& model = *bed.window->document().model();
    for (std::size_t i = model.ops.size(); i-- > 0;)
        if (model.ops[i].kind == kind) return bed.window->selection().reveal(models::Target::op(protocol::OpId(i)));
}

bool changeCuts(Bed& bed)
{
    const models::PlanPtr before = bed.window->document().plan();
    for (const protocol::PlanCheckpoint& checkpoint : before->checkpoints) {
        if (checkpoint.output) continue;
        bed.window->workbench().pin({base::PinKind::NoCheckpoint, checkpoint.value});
        if (!bed::waitFor([&] { return !bed.window->workbench().busy(); })) return false;
        if (bed.window->document().plan() != before) {
            bed.window->selection().reveal(models::Target::value(checkpoint.value));
            return true;
        }
    }
    return bed.window->document().refusal().size() > 0;
}

bool beginRun(Bed& bed, std::int64_t batchSize = 150, const QString& device = QStringLiteral("auto"))
{
    models::Settings settings = bed.window->document().settings();
    settings.batch = batchSize;
    settings.device = device.toStdString();
    bed.window->workbench().setRunSettings(settings);
    bed::waitFor([&] { return !bed.window->workbench().busy(); });
    bed.window->workbench().startRun(true);
    const auto paused = [&] {
        const auto log = bed.window->document().runLog();
        return log && log->state() == protocol::RunState::Paused;
    };
    if (!bed::waitFor(paused)) return false;
    bed.window->workbench().step(protocol::RunStep::Stage);
    if (!bed::waitFor([&] {
            return !bed.window->document().runLog()->stages().empty() &&
                   bed.window->document().runLog()->stages().front().finished;
        }))
        return false;
    for (int batch = 0; batch < 6; ++batch) {
        bed::waitFor(paused);
        bed.window->workbench().step(protocol::RunStep::Batch);
        rest(120);
    }
    return true;
}

// A value that the plan stores besides the results; none: there is no such value.
protocol::ValueId someStore(const models::Document& document)
{
    for (const protocol::PlanCheckpoint& checkpoint : document.plan()->checkpoints)
        if (!checkpoint.output) return checkpoint.value;
    return {};
}

// One checkpoint after the other is forbidden, until no plan is left; then the ways out have come, too.
bool beRefused(Bed& bed)
{
    const models::Document& document = bed.window->document();
    for (protocol::ValueId store = someStore(document); store.valid(); store = someStore(document)) {
        bed.window->workbench().pin({base::PinKind::NoCheckpoint, store});
        if (!bed::waitFor([&] { return !bed.window->workbench().busy(); })) return false;
        if (!document.refusal().isEmpty()) return bed::waitFor([&] { return !document.repairs().empty(); });
    }
    return false;
}

bool search(Bed& bed, const QString& words)
{
    bed.window->actionBook().find(QStringLiteral("graphFind"))->trigger();
    auto* field = bed.window->graph().findChild<QLineEdit*>(QStringLiteral("graphSearchField"));
    QTest::keyClicks(field, words);
    QTest::keyClick(field, Qt::Key_Return);
    return true;
}

bool runColoured(Bed& bed, graphview::ColourMode mode)
{
    if (!openSample(bed, "digits/jknet.pt") || !bed.run()) return false;
    bed.window->graph().setColourMode(mode);
    return true;
}

// A pin of every kind that an optimum keeps to, around the last hop.
bool pinEverything(Bed& bed)
{
    const models::ModelPtr model = bed.window->document().model();
    protocol::OpId hop;
    for (std::size_t op = 0; op < model->ops.size(); ++op)
        if (model->ops[op].kind == protocol::NodeKind::Gather) hop = protocol::OpId(op);
    const protocol::ValueId made = model->ops[hop].outputs.front(), read = model->ops[hop].inputs.front();
    const auto stages = static_cast<int>(bed.window->document().plan()->stages.size());
    for (const plan::Pin& pin : std::vector<plan::Pin>{{base::PinKind::Cut, read, made},
                                                       {base::PinKind::HopStage, made, {}, plan::StageId(stages)},
                                                       {base::PinKind::NoRecompute, read}})
        bed.window->workbench().pin(pin);
    bed.window->selection().reveal(models::Target::op(hop));
    return bed::waitFor([&] { return !bed.window->workbench().busy(); }) && bed.window->document().refusal().isEmpty();
}

bool askWhy(Bed& bed)
{
    bed.window->docks().reveal(QStringLiteral("why"));
    selectLast(bed, protocol::NodeKind::Aggregate);
    return bed::waitFor([&] { return bed.window->document().explained().explanation != nullptr; });
}

bool tradeOff(Bed& bed)
{
    bed.window->docks().reveal(QStringLiteral("tradeOff"));
    return bed::waitFor([&] { return bed.window->document().front().complete; }, 60'000);
}

bool besideTheRule(Bed& bed)
{
    bed.window->actionBook().find(QStringLiteral("graphCompareDepth"))->trigger();
    auto* other = bed.window->graph().findChild<graphview::GraphView*>(QStringLiteral("graphOther"));
    return bed::waitFor([&] { return other->isVisible() && other->scene(); });
}

// A checkpoint is held over the first gather that can take it.
bool dragCheckpoint(Bed& bed)
{
    auto* view = bed.window->graph().findChild<graphview::GraphView*>();
    rest();
    const graphview::Scene& scene = *view->scene();
    const QPoint from = view->camera().toScreen(scene.stores.front().rect.center()).toPoint();
    QTest::mousePress(view, Qt::LeftButton, {}, from);
    QTest::mouseMove(view, from + QPoint(9, 9));
    for (std::size_t node = 0; node < scene.nodes.size(); ++node) {
        if (scene.graph->nodes[node].prologue || scene.graph->nodes[node].shape != graphview::Shape::Rowwise) continue;
        QTest::mouseMove(view, view->camera().toScreen(scene.nodes[node].center()).toPoint());
        if (bed::waitFor([&] { return bed.window->document().preview().plan != nullptr; }, 1500)) return true;
    }
    return false;
}

// What no machine without a GPU can show: an engine with a simulated one was recorded.
WindowSetup gpuSetup()
{
    WindowSetup setup = bed::playedSetup();
    setup.engineCommand = player::command({QStringLiteral("--gpu")});
    return setup;
}

// Three workers in the second stage, one of which was lost; two wait for the slowest one.
WindowSetup workersSetup()
{
    WindowSetup setup = bed::playedSetup();
    setup.engineCommand = player::command({"--workers", "--stand"});
    return setup;
}

bool dealOut(Bed& bed)
{
    if (!bed.open("chain3.pt") || !bed.setBatches()) return false;
    bed.window->workbench().startRun();
    return bed::waitFor([&] {
        const auto log = bed.window->document().runLog();
        return log && log->workers() != nullptr && log->workers()->lost() > 0 && log->stages().size() == 2 &&
               log->stages().back().done >= 9000;
    });
}

bool showField(Bed& bed, std::int64_t node)
{
    bed.window->docks().bring("receptive");
    auto* receptive = static_cast<study::Receptive*>(bed.window->docks().dock("receptive")->widget());
    receptive->look(node);
    return bed::waitFor([&] { return receptive->field() && !receptive->busy(); });
}

bool debugWrongDegrees(Bed& bed)
{
    bed.window->docks().bring("debugger");
    auto* debugger = static_cast<study::Debugger*>(bed.window->docks().dock("debugger")->widget());
    debugger->prepare(study::Hunt::Against);
    debugger->setOther(bed::sample("lessons/gcn_blocks.pt"));
    debugger->start();
    return bed::waitFor([&] { return debugger->divergence().has_value(); });
}

study::TensorPanel& tensorsOf(Bed& bed)
{
    return *static_cast<study::TensorPanel*>(bed.window->docks().dock("tensor")->widget());
}

// All rows of the last aggregation, from where the table is scrolled to.
bool showTensor(Bed& bed)
{
    selectLast(bed, protocol::NodeKind::Aggregate);
    bed.window->actionBook().find(QStringLiteral("explain.tensor"))->trigger();
    return bed::waitFor([&] { return tensorsOf(bed).tensor().has_value(); });
}

bool followNode(Bed& bed, qint64 node)
{
    bed.window->docks().bring("follow");
    auto* panel = static_cast<study::FollowPanel*>(bed.window->docks().dock("follow")->widget());
    panel->follow(node);
    return bed::waitFor([&] { return panel->followed() == node; });
}

// What operators took in a run, at one of the panel's pages.
bool monitor(Bed& bed, int page)
{
    if (!bed.run()) return false;
    bed.window->docks().bring("monitor");
    bed.window->findChild<QTabWidget*>("monitorTabs")->setCurrentIndex(page);
    selectLast(bed, protocol::NodeKind::Aggregate);
    return true;
}

// What the batches of the first stage hold.
bool stageMemory(Bed& bed)
{
    bed.window->docks().bring("monitor");
    bed.window->findChild<QTabWidget*>("monitorTabs")->setCurrentIndex(2);
    bed.window->findChild<QPushButton*>("memoryStart")->click();
    return bed::waitFor([&] { return bed.window->findChild<QWidget*>("memoryPicture")->isVisible(); });
}

// A run stands at the first batch of the last aggregation, in front of that panel.
bool stopAtBreakpoint(Bed& bed, const char* panel)
{
    selectLast(bed, protocol::NodeKind::Aggregate);
    bed.window->actionBook().find(QStringLiteral("run.breakpoint"))->trigger();
    bed.window->workbench().startRun();
    if (!bed::waitFor([&] { return tensorsOf(bed).tensor().has_value(); })) return false;
    bed.window->docks().bring(panel);
    return true;
}

// The panel "Rules" at a step of a strategy, or at its last one.
bool showRule(Bed& bed, int way, int step)
{
    bed.window->docks().bring("rules");
    auto* rules = static_cast<study::Rules*>(bed.window->docks().dock("rules")->widget());
    if (!bed::waitFor([&] { return rules->picture() != nullptr; })) return false;
    auto* choice = bed.window->findChild<QComboBox*>("rulesWay");
    choice->setCurrentIndex(way);
    emit choice->activated(way);
    for (int i = 0; i < step; ++i) bed.window->findChild<QPushButton*>("rulesNext")->click();
    return rules->picture() != nullptr;
}

// The panel "Animation" at the n-th frame of a kind.
bool animate(Bed& bed, study::Moment moment, int number)
{
    bed.window->docks().bring("animation");
    auto* panel = static_cast<study::AnimationPanel*>(bed.window->docks().dock("animation")->widget());
    if (!bed::waitFor([&] { return panel->show() != nullptr; })) return false;
    const auto& frames = panel->show()->animation.frames;
    for (std::size_t frame = 0; frame < frames.size(); ++frame)
        if (frames[frame].moment == moment && --number == 0) panel->view().go(static_cast<int>(frame));
    return number <= 0;
}

// As far as that step, without answers.
bool playLesson(Bed& bed, const QString& id, int step)
{
    Tour& tour = bed.window->tour();
    tour.startBundled(id);
    for (int at = 0;; ++at) {
        if (!bed::waitFor([&] { return tour.ready(); }, 30'000)) return false;
        if (at == step) return true;
        tour.skip();
    }
}

bool openManual(Bed& bed, const char* page, const char* heading = "")
{
    bed.window->help().open({QLatin1String(page), QLatin1String(heading)});
    return QTest::qWaitForWindowExposed(bed.window->help().window(), 60'000);
}

// The documentation if it is open.
QWidget& shownWindow(Bed& bed)
{
    QWidget* const manual = bed.window->help().window();
    return manual != nullptr && manual->isVisible() ? *manual : *bed.window;
}

struct Shot {
    const char *name, *perspective;
    style::Mode theme;
    std::function<bool(Bed&)> prepare;
    WindowSetup (*setup)() = bed::realSetup;
};

const Shot shots[] = {
    {"start", "", style::Mode::Light, [](Bed&) { return true; }},
    {"analysis", "analyse", style::Mode::Light,
     [](Bed& bed) {
         const bool opened = openSample(bed, "digits/jknet.pt");
         if (opened) selectLast(bed, protocol::NodeKind::Aggregate);
         return opened;
     }},
    {"plan-edit", "analyse", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && changeCuts(bed); }},
    {"running", "run", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && beginRun(bed); }},
    {"gpu", "run", style::Mode::Light,
     [](Bed& bed) {
         return bed.open("chain3.pt") && bed.setBatches(true) && beginRun(bed, 1000, QStringLiteral("cuda:0"));
     },
     gpuSetup},
    {"workers", "run", style::Mode::Light, dealOut, workersSetup},
    {"workers-dark", "run", style::Mode::Dark, dealOut, workersSetup},
    {"finished", "compare", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && bed.run(); }},
    {"dark", "run", style::Mode::Dark, [](Bed& bed) { return openSample(bed, "digits/gat.pt") && bed.run(); }},
    {"refused", "analyse", style::Mode::Dark,
     [](Bed& bed) { return openSample(bed, "karate/gcn.pt") && beRefused(bed); }},
    {"pins", "analyse", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && pinEverything(bed); }},
    {"why", "analyse", style::Mode::Dark, [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && askWhy(bed); }},
    {"trade-off", "analyse", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && tradeOff(bed); }},
    {"beside", "analyse", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && besideTheRule(bed); }},
    {"drag", "analyse", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && dragCheckpoint(bed); }},
    {"search", "analyse", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "digits/gat.pt") && search(bed, "conv2 gather"); }},
    {"time", "analyse", style::Mode::Light, [](Bed& bed) { return runColoured(bed, graphview::ColourMode::Time); }},
    {"memory", "analyse", style::Mode::Dark, [](Bed& bed) { return runColoured(bed, graphview::ColourMode::Memory); }},
    {"field", "explain", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "karate/gcn.pt") && showField(bed, 0); }},
    {"field-large", "explain", style::Mode::Dark,
     [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && showField(bed, 17); }},
    {"debugger", "explain", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "karate/gcn.pt") && debugWrongDegrees(bed); }},
    {"tensor", "explain", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && showTensor(bed); }},
    {"stopped", "explain", style::Mode::Dark,
     [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && stopAtBreakpoint(bed, "tensor"); }},
    {"breakpoints", "explain", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && stopAtBreakpoint(bed, "breakpoints"); }},
    {"follow", "explain", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && followNode(bed, 17); }},
    {"follow-gat", "explain", style::Mode::Dark,
     [](Bed& bed) { return openSample(bed, "digits/gat.pt") && followNode(bed, 3); }},
    {"monitor", "explain", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && monitor(bed, 0); }},
    {"flame", "explain", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "digits/gat.pt") && monitor(bed, 1); }},
    {"stage-memory", "explain", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "digits/gat.pt") && stageMemory(bed); }},
    {"stage-memory-dark", "explain", style::Mode::Dark,
     [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && stageMemory(bed); }},
    {"lesson", "explain", style::Mode::Light, [](Bed& bed) { return playLesson(bed, "layer-wise", 1); }},
    {"lesson-animation", "explain", style::Mode::Light, [](Bed& bed) { return playLesson(bed, "layer-wise", 6); }},
    {"lesson-cuts", "explain", style::Mode::Dark, [](Bed& bed) { return playLesson(bed, "cuts", 2); }},
    {"lesson-depth", "explain", style::Mode::Light, [](Bed& bed) { return playLesson(bed, "depth", 2); }},
    {"lesson-residual", "explain", style::Mode::Light, [](Bed& bed) { return playLesson(bed, "residual", 3); }},
    {"rules", "explain", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "digits/residual.pt") && showRule(bed, 1, 1); }},
    {"rules-cut", "explain", style::Mode::Dark,
     [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && showRule(bed, 2, 9); }},
    {"animation", "explain", style::Mode::Light,
     [](Bed& bed) { return openSample(bed, "karate/gcn.pt") && animate(bed, study::Moment::Gather, 2); }},
    {"animation-part", "explain", style::Mode::Dark,
     [](Bed& bed) { return openSample(bed, "digits/jknet.pt") && animate(bed, study::Moment::Write, 4); }},
    {"differences", "explain", style::Mode::Light,
     [](Bed& bed) {
         const bool found = openSample(bed, "karate/gcn.pt") && debugWrongDegrees(bed);
         bed.window->graph().setColourMode(graphview::ColourMode::Error);
         return found;
     }},
    {"manual", "", style::Mode::Light, [](Bed& bed) { return openManual(bed, "start/window.md", "plan"); }},
    {"manual-picture", "", style::Mode::Dark, [](Bed& bed) { return openManual(bed, "start/window.md"); }},
    {"manual-glossary", "", style::Mode::Light, [](Bed& bed) { return openManual(bed, "reference/glossary.md"); }},
    {"manual-code", "", style::Mode::Dark, [](Bed& bed) { return openManual(bed, "guides/debugging.md"); }},
    {"error", "analyse", style::Mode::Light, [](Bed& bed) { return runColoured(bed, graphview::ColourMode::Error); }},
};

int take(const Shot& shot, bool dark, QSize size, const QString& file)
{
    WindowSetup setup = shot.setup();
    setup.settings.theme = dark ? style::Mode::Dark : shot.theme;
    setup.unattended = true;
    if (*shot.perspective) setup.settings.perspective = QLatin1String(shot.perspective);
    Bed bed(setup);
    if (size.isValid()) bed.window->resize(size);
    if (!shot.prepare(bed)) {
        std::fprintf(stderr, "%s: could not be brought about: %s\n", shot.name,
                     qPrintable(bed.window->banner().sentence()));
        return 1;
    }
    rest();
    constexpr int longest = 20'000;  // milliseconds, where others use the machine: the last answers have been laid out
    QWidget& window = shownWindow(bed);
    bed::waitFor([&] { return checks::clippedTexts(window).isEmpty(); }, longest);
    const QImage picture = window.grab().toImage();
    if (!picture.save(file)) return 1;
    QStringList found = checks::clippedTexts(window) + checks::overlaps(window);
    found += checks::paleTexts(window, picture);
    if (const auto* graph = bed.window->findChild<graphview::GraphPanel*>()) found += graph->faults();
    for (const QString& sentence : found) std::fprintf(stderr, "%s: %s\n", shot.name, qPrintable(sentence));
    std::printf("%s\n", qPrintable(file));
    return found.isEmpty() ? 0 : 1;
}

int takeAll(const QStringList& arguments)
{
    QCommandLineParser parser;
    parser.addOptions({{"folder", "Where the pictures go.", "folder", "."},
                       {"dark", "All of them in the dark theme."},
                       {"shots", "Which of them, with commas.", "names"},
                       {"size", "Of the window, WIDTHxHEIGHT.", "size"},
                       {"suffix", "Behind each name.", "suffix"}});
    parser.addHelpOption();
    parser.process(arguments);
    QDir().mkpath(parser.value("folder"));
    const QStringList wanted = parser.value("shots").split(u',', Qt::SkipEmptyParts);
    const QStringList sides = parser.value("size").split(u'x');
    const QSize size(sides.value(0, "0").toInt(), sides.value(1, "0").toInt());
    int failures = 0;
    for (const Shot& shot : shots) {
        const QString name = QLatin1String(shot.name);
        if (!wanted.isEmpty() && !wanted.contains(name)) continue;
        failures += take(shot, parser.isSet("dark"), size.isEmpty() ? QSize() : size,
                         parser.value("folder") + u'/' + name + parser.value("suffix") + QStringLiteral(".png"));
    }
    return failures > 0 ? 1 : 0;
}

}  // namespace

HOPSCOPE_QT_PROGRAM(window_screenshots, takeAll)
