// Opens one model file after the other in one window on a small screen, and says how long window, engine and layout work
// until it is drawn, and what is wrong at first view: no drawing, a window larger than the screen, something that stands over a
// node, faults of the picture. Arguments: files *.pt and *.pt2, or folders of them, after --least N, of how many there
// must be at least; beside a model "NAME.g0.safetensors" or "graph.safetensors" is its data.

#include <QDirIterator>
#include <QFileInfo>
#include <QMap>
#include <algorithm>
#include <cstdio>

#include "bed.h"
#include "graphview/view/graph_view.h"
#include "support/qt_suites.h"
#include "support/stop_watch.h"

using namespace hopscope;
using bed::Bed;
using graphview::GraphView;

namespace {

constexpr double mostSeconds = 2;

QStringList filesOf(const QStringList& arguments)
{
    QStringList files;
    for (const QString& argument : arguments) {
        if (!QFileInfo(argument).isDir()) {
            files << argument;
            continue;
        }
        QDirIterator all(argument, {QStringLiteral("*.pt"), QStringLiteral("*.pt2"), QStringLiteral("*.ptc")},
                         QDir::Files, QDirIterator::Subdirectories);
        while (all.hasNext()) files << all.next();
    }
    files.sort();
    return files;
}

QStringList dataOf(const QString& model)
{
    const QFileInfo info(model);
    for (const QString& name :
         {info.completeBaseName() + QStringLiteral(".g0.safetensors"), QStringLiteral("graph.safetensors")})
        if (QFileInfo::exists(info.dir().filePath(name))) return {info.dir().filePath(name)};
    return {};
}

// What floats over the view and covers something that is drawn.
QStringList covered(const GraphView& view)
{
    QStringList found;
    const graphview::Scene& scene = *view.scene();
    for (const auto* over : view.findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
        if (!over->isVisible()) continue;
        const auto hides = [&](const QRectF& rect) {
            return view.camera().toScreen(rect).intersects(QRectF(over->geometry()));
        };
        const bool any = std::ranges::any_of(scene.nodes, hides) ||
                         std::ranges::any_of(scene.stores, [&](const auto& store) { return hides(store.rect); });
        if (any) found << over->objectName() + QStringLiteral(" covers a node");
    }
    return found;
}

QStringList faultsOf(Bed& bed, const QSize& screen)
{
    QStringList faults;
    const GraphView& view = *bed.window->graph().findChild<GraphView*>();
    if (bed.window->width() > screen.width() || bed.window->height() > screen.height())
        faults << QStringLiteral("the window is %1 x %2").arg(bed.window->width()).arg(bed.window->height());
    if (!view.scene() || view.scene()->nodes.empty())
        return faults << QStringLiteral("nothing is drawn: ") + bed.window->banner().sentence();
    return faults + covered(view) + bed.window->graph().faults();
}

struct Opened {
    double seconds = 0;  // of work until it is drawn
    bool whole = false;  // all of it is seen
    QStringList faults;
};

Opened open(Bed& bed, const QString& model, const QSize& screen)
{
    constexpr int patience = 30'000;
    Opened opened;
    GraphView& view = *bed.window->graph().findChild<GraphView*>();
    const auto drawn = [&] {
        return bed.window->document().modelPath() == model && bed.window->document().model() &&
               bed.window->graph().layoutReady() && view.scene();
    };
    const watch::StopWatch clock(watch::Whose::Family);
    bed.window->openFile({model, dataOf(model), {}});
    bed::waitFor([&] { return drawn() || !bed.window->workbench().busy(); }, patience);
    bed::waitFor(drawn, 2000);
    const watch::Span span = clock.elapsed();
    opened.seconds = std::min(span.wall, span.work) * 1e-3;
    bed::waitFor([&] { return !bed.window->workbench().busy() && bed.window->graph().layoutReady(); }, patience);
    bed::waitFor([&] { return !view.animating(); }, patience);
    opened.faults = faultsOf(bed, screen);
    opened.whole = view.scene() && view.camera().toScene(QRectF(view.rect())).contains(view.scene()->bounds);
    if (opened.seconds > mostSeconds && opened.seconds > mostSeconds * watch::allowance())
        opened.faults << QStringLiteral("drawn after %1 s of work").arg(opened.seconds, 0, 'f', 1);
    return opened;
}

// Takes "--least N" from the arguments.
std::size_t leastOf(QStringList& arguments)
{
    if (arguments.value(0) != u"--least") return 1;
    const std::size_t least = arguments.value(1).toULongLong();
    arguments = arguments.mid(2);
    return least;
}

struct Summary {
    std::vector<double> seconds;
    int wrong = 0, whole = 0;

    void add(const QString& file, const Opened& opened)
    {
        seconds.push_back(opened.seconds);
        whole += opened.whole ? 1 : 0;
        wrong += opened.faults.isEmpty() ? 0 : 1;
        for (const QString& fault : opened.faults) std::printf("%s: %s\n", qPrintable(file), qPrintable(fault));
        std::fflush(stdout);
    }
    void print()
    {
        std::ranges::sort(seconds);
        std::printf("%zu files, drawn after %.2f s of work (median), %.2f s (longest); %d seen whole at first view; %d "
                    "with faults\n",
                    seconds.size(), seconds[seconds.size() / 2], seconds.back(), whole, wrong);
    }
};

int everyFile(const QStringList& words)
{
    window::WindowSetup setup = bed::realSetup();
    setup.room = {0, 0, 1280, 800};
    Bed bed(setup);
    bed::waitFor([&] { return bed.window->engine().state() == jobs::EngineState::Ready; });
    QStringList arguments = words.mid(1);
    const std::size_t least = leastOf(arguments);
    Summary summary;
    for (const QString& file : filesOf(arguments)) summary.add(file, open(bed, file, setup.room.size()));
    if (summary.seconds.size() < std::max<std::size_t>(least, 1)) {
        std::printf("%zu files, but at least %zu are expected\n", summary.seconds.size(), least);
        return 1;
    }
    summary.print();
    return summary.wrong > 0 ? 1 : 0;
}

}  // namespace

HOPSCOPE_QT_PROGRAM(window_every_file, everyFile)
