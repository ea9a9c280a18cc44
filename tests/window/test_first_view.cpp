// What is seen before anybody has touched anything, and what stays where it is when somebody does.

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>

#include "bed.h"
#include "graphview/view/graph_view.h"
#include "graphview/view/overlays.h"
#include "models/labels.h"
#include "models/run_log.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::window;
using bed::Bed;
using bed::child;

namespace {

QRectF onScreen(Bed& bed, const QRectF& scene) { return view(bed).camera().toScreen(scene); }

bool settled(Bed& bed)
{
    return bed::waitFor(
        [&] { return bed.window->graph().layoutReady() && !bed.window->workbench().busy() && !view(bed).animating(); });
}

// Those of messages before it go only later.
QPushButton* dismissButton(Bed& bed)
{
    for (auto* button : bed.window->findChildren<QPushButton*>("banner.Dismiss"))
        if (button->isVisible()) return button;
    return nullptr;
}

WindowSetup smallScreen()
{
    WindowSetup setup = bed::playedSetup();
    setup.room = {0, 0, 1280, 800};
    return setup;
}

}  // namespace

class TestFirstView : public QObject {
    Q_OBJECT
private slots:
    void nothingStandsOverTheNodes_data();
    void nothingStandsOverTheNodes();
    void theResultIsInSight();
    void theStripStaysWhereItIsWhateverTheLegendSays();
    void anEdgeThatIsCutIsCutAgainAtTheSamePlace();
    void runsComeBackWithTheirSession();
    void settingsOfRunsAreNoChangeThatHasToBeSaved();
    void aMessageComesBackOnceTheOneAboveItIsAnswered();
    void aLimitThatIsTooLowIsRefusedInTheWordsOfTheWindow();
    void aRefusalThatIsDismissedIsNoProblemAnyMore();
    void aMissingFileIsNamedOnce();
};

void TestFirstView::nothingStandsOverTheNodes_data()
{
    QTest::addColumn<QString>("model");
    for (const char* name : {"chain2.pt", "chain3.pt", "chain8.pt", "chain16-skips.pt"}) QTest::newRow(name) << name;
}

void TestFirstView::nothingStandsOverTheNodes()
{
    QFETCH(QString, model);
    Bed bed(smallScreen());
    QVERIFY(bed.open(model));
    QVERIFY(settled(bed));
    for (const auto* over : view(bed).findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
        if (!over->isVisible()) continue;
        for (const QRectF& node : view(bed).scene()->nodes)
            QVERIFY2(!onScreen(bed, node).intersects(QRectF(over->geometry())), qPrintable(over->objectName()));
    }
    auto* legend = child<QWidget>(*bed.window, "graphLegend");
    QVERIFY(legend->isVisible());
    QVERIFY(!view(bed).isAncestorOf(legend));
}

void TestFirstView::theResultIsInSight()
{
    Bed bed(smallScreen());
    QVERIFY(bed.open("chain4.pt"));
    QVERIFY(settled(bed));
    const graphview::Scene& scene = *view(bed).scene();
    const auto output = std::ranges::find(scene.graph->nodes, graphview::Shape::Output, &graphview::VisibleNode::shape);
    QVERIFY(output != scene.graph->nodes.end());
    const auto place = onScreen(bed, scene.nodes[static_cast<std::size_t>(output - scene.graph->nodes.begin())]);
    QVERIFY(QRectF(view(bed).rect()).contains(place));
    // Whoever has looked elsewhere stays there.
    QTest::mousePress(&view(bed), Qt::LeftButton, {}, QPoint(4, 4));
    QTest::mouseMove(&view(bed), QPoint(60, 60));
    QTest::mouseRelease(&view(bed), Qt::LeftButton, {}, QPoint(60, 60));
    const auto camera = view(bed).camera();
    bed.window->resize(bed.window->size() - QSize(40, 40));
    bed::waitFor([] { return false; }, 50);
    QVERIFY(view(bed).camera() == camera);
}

void TestFirstView::theStripStaysWhereItIsWhateverTheLegendSays()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    const auto placeOf = [&](const char* name) {
        const auto* button = child<QWidget>(*bed.window, name);
        return button->mapTo(bed.window.get(), QPoint());
    };
    const QPoint fit = placeOf("graphFitButton"), zoom = placeOf("graphZoomButton");
    bed.window->workbench().pin({base::PinKind::Checkpoint, protocol::ValueId(8)});  // one more sign
    QVERIFY(settled(bed));
    for (const double factor : {0.1, 30.0}) {
        view(bed).viewport().zoomBy(factor);
        bed::waitFor([] { return false; }, 20);
        QCOMPARE(placeOf("graphFitButton"), fit);
        QCOMPARE(placeOf("graphZoomButton"), zoom);
    }
}

void TestFirstView::anEdgeThatIsCutIsCutAgainAtTheSamePlace()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    QVERIFY(settled(bed));
    const graphview::Scene& scene = *view(bed).scene();
    const auto whole = std::ranges::find_if(scene.edges, [&](const graphview::SceneEdge& edge) {
        const auto& from = scene.graph->nodes[edge.from];
        return !edge.cut && !from.prologue && from.shape == graphview::Shape::Rowwise && from.depth == 1;
    });
    QVERIFY(whole != scene.edges.end());
    const auto from = scene.graph->nodes[whole->from].key, to = scene.graph->nodes[whole->to].key;
    const QPoint at = view(bed).camera().toScreen(graphview::pointOnPath(whole->path, 0.5)).toPoint();
    QTest::mouseMove(&view(bed), at);
    QTest::mouseDClick(&view(bed), Qt::LeftButton, {}, at);
    QTRY_COMPARE(bed.window->workbench().undoStack().count(), 1);
    QVERIFY(settled(bed));
    const graphview::Scene& after = *view(bed).scene();
    const graphview::Hit hit =
        graphview::hitBelowStores(after, view(bed).camera().toScene(at), view(bed).camera().scale);
    QCOMPARE(hit.kind, graphview::Hit::Kind::Edge);
    QCOMPARE(after.graph->nodes[after.edges[hit.index].from].key, from);
    QCOMPARE(after.graph->nodes[after.edges[hit.index].to].key, to);
}

void TestFirstView::runsComeBackWithTheirSession()
{
    Bed bed;
    QVERIFY(bed.open("/models/chain3.pt"));
    QVERIFY(bed.run());
    QVERIFY(bed.run());
    QVERIFY(!bed.window->isWindowModified());
    const auto& runs = bed.window->document().runs();
    for (const char* word : {"run 1", "batch"}) QVERIFY2(runs.front().title.contains(word), word);
    const QString file = bed.folder.filePath("s.hopscope");
    QVERIFY(bed.window->keeper().save(file).has_value());

    Bed other;
    other.window->openFile({file, {}, {}});
    QTRY_COMPARE(other.window->document().runs().size(), std::size_t(2));
    for (std::size_t run : {0, 1}) {
        QCOMPARE(other.window->document().runs()[run].title, runs[run].title);
        QVERIFY(*other.window->document().runs()[run].report == *runs[run].report);
    }
    QVERIFY(settled(other));
    QVERIFY(other.run());
    QVERIFY(other.window->document().runs().back().title.startsWith("run 3"));
}

void TestFirstView::settingsOfRunsAreNoChangeThatHasToBeSaved()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    auto settings = bed.window->document().settings();
    settings.batch = 512;
    bed.window->workbench().setRunSettings(settings);
    QVERIFY(settled(bed));
    bed::waitFor([] { return false; }, 50);
    QVERIFY(!bed.window->isWindowModified());
    QVERIFY(bed.window->keeper().save(bed.folder.filePath("s.hopscope")).has_value());
    settings.batch = 600;  // the file says otherwise
    bed.window->workbench().setRunSettings(settings);
    QTRY_VERIFY(bed.window->isWindowModified());
}

void TestFirstView::aLimitThatIsTooLowIsRefusedInTheWordsOfTheWindow()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    Banner& banner = *bed.window->findChild<Banner*>();
    bed.window->document().setRefusal("stage 1 does not fit into the limit of 1000 B; raise it to --memory 4096");
    QCOMPARE(banner.sentence(), QString("This change is not possible: stage 1 does not fit into the limit of 1000 B; "
                                        "raise it to 4.0 KiB"));
    auto* button = banner.findChild<QPushButton*>("banner.Set the limit to 4.0 KiB");
    QVERIFY(button);
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(bed.window->document().settings().memory, std::optional<qint64>(4096));
    QCOMPARE(models::withoutOptions("see --memory"), QString("see --memory"));
}

void TestFirstView::aMessageComesBackOnceTheOneAboveItIsAnswered()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    Banner& banner = *bed.window->findChild<Banner*>();
    banner.dismiss("open");
    banner.say("recovery", "something was lost");
    banner.say("open", "opened without data");
    banner.say("open", "opened without its data");
    QCOMPARE(banner.sentence(), QString("opened without its data"));
    QTRY_VERIFY(dismissButton(bed));
    QTest::mouseClick(dismissButton(bed), Qt::LeftButton);
    QCOMPARE(banner.sentence(), QString("something was lost"));
    QVERIFY(banner.isVisible());
    banner.dismiss("open");
    QCOMPARE(banner.sentence(), QString("something was lost"));
    banner.dismiss("recovery");
    QVERIFY(!banner.isVisible());
}

void TestFirstView::aRefusalThatIsDismissedIsNoProblemAnyMore()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    bed.window->document().setRefusal("made up, and not long");
    QTRY_VERIFY(dismissButton(bed));
    QTest::mouseClick(dismissButton(bed), Qt::LeftButton);
    QVERIFY(bed.window->document().refusal().isEmpty());
    QVERIFY(!bed.window->banner().sentence().contains("made up"));
}

void TestFirstView::aMissingFileIsNamedOnce()
{
    Bed bed;
    emit bed.window->workbench().failed("Opening missing.pt", "cannot read /nowhere/missing.pt: no such file", "");
    QCOMPARE(bed.window->banner().sentence(), QString("Cannot read /nowhere/missing.pt: no such file"));
    emit bed.window->workbench().failed("Opening a.pt", "the file is damaged", "");
    QCOMPARE(bed.window->banner().sentence(), QString("Opening a.pt: the file is damaged"));
}

HOPSCOPE_QT_SUITE(window_first_view, TestFirstView)
#include "test_first_view.moc"
