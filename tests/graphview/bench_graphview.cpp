// Measures the graph against the goals of the window (exits with 1 if one is missed), or shows one model:
// test_window graphview_bench [LAYOUT-PROGRAM]
// test_window graphview_bench --show INSPECT.json PLAN.json|- OUT.png light|dark [LAYOUT-PROGRAM] [WIDTHxHEIGHT] [OPERATOR]
//   [ACTION]
// where INSPECT.json may be `large`, PLAN.json `depth`, OPERATOR is selected (0: none) and ACTION triggered

#include <QAction>
#include <QApplication>
#include <QLineEdit>
#include <QTest>
#include <algorithm>

#include "graphview/graph_samples.h"
#include "graphview/scene/scene_maker.h"
#include "graphview/view/graph_panel.h"
#include "graphview/view/graph_view.h"
#include "support/heart_beat.h"
#include "support/qt_suites.h"
#include "support/stop_watch.h"

namespace {

using namespace hopscope;
using graphview::GraphPanel;
using watch::row;
using watch::Span;

int show(const QStringList& arguments)
{
    models::Document document;
    models::Selection selection;
    const bool made = arguments[2] == QLatin1String("large");
    const models::ModelPtr model =
        made ? graphview::samples::largeModel(10'000) : graphview::samples::readModelFile(arguments[2]);
    if (!model) return 1;
    const style::Theme theme =
        style::loadTheme(arguments[5] == QLatin1String("dark") ? style::Mode::Dark : style::Mode::Light);
    style::applyTheme(theme);
    GraphPanel panel(document, selection);
    if (arguments.size() > 6) panel.setLayoutCommand({arguments[6]});
    const QStringList size = arguments.value(7, QStringLiteral("950x900")).split(QLatin1Char('x'));
    panel.resize(size.value(0).toInt(), size.value(1).toInt());
    panel.setTheme(theme);
    panel.setReducedMotion(true);
    panel.show();
    document.setModel(model);
    if (arguments[3] == QLatin1String("depth")) document.setPlan(graphview::samples::depthPlan(model));
    else if (arguments[3] != QLatin1String("-"))
        document.setPlan(graphview::samples::readPlanFile(arguments[3], model));
    if (!QTest::qWaitFor([&] { return panel.layoutReady(); }, 10000)) return 1;
    if (auto* action = arguments.value(9).isEmpty() ? nullptr : panel.findChild<QAction*>(arguments[9]))
        action->trigger();
    if (!QTest::qWaitFor([&] { return panel.layoutReady(); }, 20000)) return 1;
    const int selected = arguments.value(8).toInt();
    if (selected > 0) selection.reveal(models::Target::op(protocol::OpId(selected)));
    QTest::qWait(50);
    return panel.grab().save(arguments[4]) ? 0 : 1;
}

template <class Run>
Span timed(Run run, watch::Whose whose = watch::Whose::Thread)
{
    const watch::StopWatch watch(whose);
    run();
    return watch.elapsed();
}

constexpr double most = 0.95;

struct Window {
    models::Document document;
    models::Selection selection;
    GraphPanel panel{document, selection};
    explicit Window(const QString& helper)
    {
        if (!helper.isEmpty()) panel.setLayoutCommand({helper});
        panel.setReducedMotion(true);
        panel.resize(1600, 1000);
        panel.show();
        QApplication::processEvents();
    }
    graphview::GraphView& view() { return *panel.findChild<graphview::GraphView*>(); }
    QAction* action(const char* name) { return panel.findChild<QAction*>(QLatin1String(name)); }
    // Without a time limit, with which Qt asks again and again: that would count as work.
    void settle()
    {
        while (!panel.layoutReady()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
    Span frame()
    {
        view().update();
        return timed([this] { view().repaint(); });
    }
};

void benchOpen(const QString& helper)
{
    const auto model = graphview::samples::largeModel(10'000);
    std::vector<Span> times;
    for (int i = 0; i < 5; ++i) {
        Window window(helper);
        times.push_back(timed([&] {
            window.document.setModel(model);
            window.settle();
            window.view().repaint();
        }));
    }
    row("open -> first folded view, 10,000 ops, p95", 1000, times, most);
}

void benchShared(const QString& helper)
{
    graphview::samples::ModelWriter writer;
    const int shared = writer.input("edge_attr");
    std::vector<int> values{writer.input("x")};
    for (int i = 0; i < 453; ++i)
        values.push_back(writer.op(protocol::NodeKind::Rowwise, "aten::mul.Tensor", "", "",
                                   {values[values.size() - 1 - (i % 5 == 4 ? 3 : 0)], shared}));
    writer.output(values.back());
    Window window(helper);
    const auto model = writer.finish();
    const Span time = timed([&] {
        window.document.setModel(model);
        window.settle();
    });
    row("455 nodes with a shared input", 300, {time}, 1);
}

void benchFrames(Window& window, const std::string& of)
{
    std::vector<Span> fit, near;
    window.view().viewport().fit();
    const graphview::Camera whole = window.view().camera();
    for (int i = 0; i < 60; ++i) {
        window.view().viewport().setCamera(whole.zoomed(1 + 0.002 * i, {800, 500}));
        fit.push_back(window.frame());
    }
    for (const qreal scale : {0.2, 0.5, 1.0}) {
        near.clear();
        for (int i = 0; i < 60; ++i) {
            graphview::Camera camera;
            camera.scale = scale;
            camera.offset = QPointF(800, 500) - window.view().scene()->bounds.center() * scale + QPointF(3 * i, 7 * i);
            window.view().viewport().setCamera(camera);
            near.push_back(window.frame());
        }
        row("frame at " + of + " nodes, at " + std::to_string(qRound(scale * 100)) + " %, p95", 16.6, near, most);
    }
    row("frame at " + of + " nodes, fit, p95", 16.6, fit, most);
}

void benchSearch(Window& window, const std::string& of)
{
    std::vector<Span> times;
    window.action("graphFind")->trigger();
    auto* field = window.panel.findChild<QLineEdit*>("graphSearchField");
    for (const QChar key : QStringLiteral("linear blocks.7 mlp aten"))
        times.push_back(timed([&] {
            QTest::keyClick(field, key.toLatin1());
            window.view().repaint();
        }));
    row("search key at " + of + ", p95", 50, times, most);
}

// Here and there a module and the one around it are closed and opened again while all others stay open. The work of the layout
// program counts.
void benchToggle(Window& window, const std::string& of, double goal)
{
    constexpr std::size_t places = 8;
    std::vector<Span> times;
    for (std::size_t place = 0; place < places; ++place) {
        const auto& nodes = window.view().scene()->graph->nodes;
        std::size_t at = nodes.size() * (2 * place + 1) / (2 * places);
        while (nodes[at].frame < 0) ++at;
        window.selection.select(models::Target::op(nodes[at].op));
        for (const char* action : {"graphCollapse", "graphCollapse", "graphExpand", "graphExpand"}) {
            const std::size_t shown = window.view().scene()->nodes.size();
            times.push_back(timed(
                [&] {
                    window.action(action)->trigger();
                    window.settle();
                    window.view().repaint();
                },
                watch::Whose::Family));
            if (window.view().scene()->nodes.size() == shown) qFatal("nothing was closed or opened");
        }
    }
    row("close or open a module at " + of + " nodes, p95", goal, times, most);
}

struct Expanded {
    int ops;
    std::string name;
    double layout, toggle;  // goals in milliseconds
};

void benchExpanded(const QString& helper)
{
    const Expanded sizes[] = {{.ops = 10'000, .name = "10,000", .layout = 2000, .toggle = 60},
                              {.ops = 50'000, .name = "50,000", .layout = 10'000, .toggle = 250}};
    for (const Expanded& size : sizes) {
        Window window(helper);
        window.document.setModel(graphview::samples::largeModel(size.ops * 5 / 4));
        window.settle();
        watch::HeartBeat heart;
        const auto expand = [&] {
            window.action("graphExpandAll")->trigger();
            window.settle();
        };
        const Span time = timed(expand, watch::Whose::Family);
        const auto nodes = window.view().scene()->nodes.size();
        row("layout fully expanded, " + std::to_string(nodes) + " nodes", size.layout, {time}, 1);
        stallRows("layout fully expanded", heart.take());
        benchFrames(window, size.name);
        benchSearch(window, size.name);
        benchToggle(window, size.name, size.toggle);
    }
}

void benchFold(const QString& helper)
{
    Window window(helper);
    window.document.setModel(graphview::samples::largeModel(10'000));
    window.settle();
    std::vector<Span> times;
    for (int i = 0; i < 20; ++i) {
        const auto& nodes = window.view().scene()->graph->nodes;
        const auto box = std::find_if(nodes.begin(), nodes.end(), [](const auto& node) { return node.module >= 0; });
        if (box == nodes.end()) break;
        window.selection.select(models::Target::op(box->op));
        times.push_back(timed([&] {
            window.action("graphExpand")->trigger();
            window.settle();
            window.view().repaint();
        }));
    }
    row("open a module of 10,000 ops, p95", 150, times, most);
}

int graphviewBench(const QStringList& arguments)
{
    if (arguments.value(1) == QLatin1String("--show") && arguments.size() > 5) return show(arguments);
    const QString helper = arguments.value(1);
    return watch::untilMet([&] {
        watch::title();
        benchOpen(helper);
        benchShared(helper);
        benchFold(helper);
        benchExpanded(helper);
    });
}

}  // namespace

HOPSCOPE_QT_PROGRAM(graphview_bench, graphviewBench)
