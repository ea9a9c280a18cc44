#include <QSignalSpy>
#include <QTest>

#include "plots/frame_clock.h"
#include "plots/stage_bars.h"
#include "plots/time_plot.h"
#include "plots/timeline.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::plots;
using protocol::StageId;

class TestPlots : public QObject {
    Q_OBJECT
private slots:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not support)"))); }

    void manyRequestsAreOneFrame();
    void framesAreAtMostThirtyASecond();
    void aMillionPointsAreDrawnAsFew();
    void whatHoldsForABatchIsALevel_data();
    void whatHoldsForABatchIsALevel();
    void theFirstPointsOfAShortRunAreDrawn();
    void zoomedInEveryPointIsDrawn();
    void clickingABandSelectsItsStage();
    void barsHaveAPlaceForEveryStage();
    void barsSayWhatWasPredictedAndHowFarTheBoundIs();
    void thePrologueIsALaneOfTheTimeline();
    void theTimelineSaysWhatIsUnderThePointer();
    void theTimelineHasLanesForEachGpu();
    void theTimelineSaysWhatOtherBatchesDoMeanwhile();
    void theBatchUnderThePointerIsMarkedInEveryLane();
    void lanesOfCopiesAppearWithTheFirstCopy();
    void theTimelineZoomsWithKeysAndBack();
    void aMillionIntervalsArePaintedAsCoverage();
    void csvHasEveryPoint();
};

namespace {

StageStack stackOf(int stage, const plan::PhaseSeconds& phases, double seconds)
{
    StageStack stack{{}, StageId(stage)};
    stack.phases = phases;
    stack.seconds = seconds;
    return stack;
}

void fill(TimePlot& plot, int points)
{
    for (int at = 0; at < points; ++at) plot.series().append(at * 1e-3, at % 1000);
    plot.setEnd(points * 1e-3, true);
    plot.refresh();
}

}  // namespace

void TestPlots::manyRequestsAreOneFrame()
{
    FrameClock clock;
    QSignalSpy frames(&clock, &FrameClock::frame);
    for (int request = 0; request < 1000; ++request) clock.request();
    QVERIFY(frames.wait(60'000));
    QCOMPARE(frames.count(), 1);
    QCOMPARE(clock.frames(), 1);
}

void TestPlots::framesAreAtMostThirtyASecond()
{
    FrameClock clock;
    QElapsedTimer time;
    connect(&clock, &FrameClock::frame, &clock, [&clock] { clock.request(); });
    time.start();
    clock.request();
    QTRY_VERIFY(clock.frames() >= 10);
    QVERIFY(time.elapsed() >= 9 * (FrameClock::interval - 1));
}

void TestPlots::aMillionPointsAreDrawnAsFew()
{
    TimePlot plot(QStringLiteral("Device memory"), Unit::Bytes);
    plot.setTheme(style::loadTheme(style::Mode::Light));
    plot.resize(600, 200);
    plot.show();
    fill(plot, 1'000'000);
    plot.grab();
    QVERIFY(plot.drawnPoints() > 100);
    QVERIFY(plot.drawnPoints() < 4 * 600);
}

void TestPlots::whatHoldsForABatchIsALevel_data()
{
    QTest::addColumn<int>("batches");
    for (const int batches : {2, 20, 4000}) QTest::addRow("%d batches", batches) << batches;
}

// The first half of the batches holds ten times as much as the second: two heights, and nothing between them.
void TestPlots::whatHoldsForABatchIsALevel()
{
    QFETCH(int, batches);
    const style::Theme theme = style::loadTheme(style::Mode::Light);
    TimePlot plot(QStringLiteral("Destinations per batch"), Unit::Count);
    plot.setTheme(theme);
    plot.resize(600, 200);
    plot.show();
    plot.series().append(0, 100);
    for (int batch = 1; batch <= batches; ++batch)
        plot.series().append(1.0 * batch / batches, 2 * batch <= batches ? 100 : 10);
    plot.setEnd(1, true);
    plot.refresh();
    QTest::qWait(100);
    const QImage picture = plot.grab().toImage();
    QMap<int, int> heights;  // of the curve's upper end, with their columns
    for (int x = 0; x < picture.width(); ++x)
        for (int y = 0; y < picture.height(); ++y)
            if (picture.pixelColor(x, y) == theme.accent) {
                ++heights[y];
                break;
            }
    int wide = 0, between = 0;
    for (const int columns : heights) (columns > 100 ? wide : between) += columns;
    QVERIFY2(wide > 400 && between <= 4, qPrintable(QString("%1 and %2 columns").arg(wide).arg(between)));
}

void TestPlots::theFirstPointsOfAShortRunAreDrawn()
{
    TimePlot plot(QStringLiteral("Device memory"), Unit::Bytes);
    plot.setTheme(style::loadTheme(style::Mode::Light));
    plot.resize(600, 200);
    plot.show();
    plot.setEnd(0, false);
    plot.refresh();
    for (const double time : {0.0001, 0.0002, 0.0003}) plot.series().append(time, 100);
    plot.setEnd(0.0003, false);
    plot.refresh();
    QCOMPARE(plot.drawnPoints(), 3);
}

void TestPlots::zoomedInEveryPointIsDrawn()
{
    TimePlot plot(QStringLiteral("Device memory"), Unit::Bytes);
    plot.setTheme(style::loadTheme(style::Mode::Light));
    plot.resize(600, 200);
    plot.show();
    fill(plot, 100'000);
    plot.zoom(50.0, 50.1);
    QVERIFY(plot.drawnPoints() >= 100 && plot.drawnPoints() <= 104);
    plot.zoom(0, 0);
    QVERIFY(plot.drawnPoints() > 200);
}

void TestPlots::clickingABandSelectsItsStage()
{
    TimePlot plot(QStringLiteral("Device memory"), Unit::Bytes);
    plot.setTheme(style::loadTheme(style::Mode::Light));
    plot.resize(600, 200);
    plot.show();
    plot.setBands({{StageId(1), 0, 5, 900.0}, {StageId(2), 5, 10, std::nullopt}});
    fill(plot, 10'000);
    plot.grab();
    QSignalSpy clicked(&plot, &TimePlot::stageClicked);
    auto* canvas = plot.findChild<QWidget*>(QStringLiteral("canvas"));
    QTest::mouseClick(canvas, Qt::LeftButton, {}, {canvas->width() * 4 / 5, canvas->height() / 2});
    QCOMPARE(clicked.count(), 1);
    QCOMPARE(clicked.first().first().value<StageId>(), StageId(2));
}

void TestPlots::barsHaveAPlaceForEveryStage()
{
    StageBars bars;
    bars.setTheme(style::loadTheme(style::Mode::Dark));
    bars.resize(600, 220);
    bars.show();
    StageRun one{QStringLiteral("one"), {stackOf(1, {1, 1, 1, 1, 1, 1}, 6), stackOf(2, {0, 0, 0, 2, 0, 0}, 2)}};
    StageRun two{QStringLiteral("two"), {stackOf(2, {0, 0, 0, 3, 0, 0}, 3), stackOf(3, {0, 0, 0, 3, 0, 0}, 3)}};
    bars.setRuns({one, two, one});
    QCOMPARE(bars.runs().size(), std::size_t(2));
    bars.grab();
    QVERIFY(bars.barRect(StageId(1)).center().x() < bars.barRect(StageId(2)).center().x());
    QVERIFY(bars.barRect(StageId(2)).center().x() < bars.barRect(StageId(3)).center().x());
    QVERIFY(bars.barRect(StageId(4)).isEmpty());
    QCOMPARE(one.stages.front().phases.sum(), 6.0);
    QCOMPARE(bars.csv().count(QLatin1Char('\n')), 5);
}

void TestPlots::barsSayWhatWasPredictedAndHowFarTheBoundIs()
{
    StageStack stack = stackOf(1, {0, 0, 0, 0.14, 0, 0}, 0.14);
    QVERIFY(boundText(stack.seconds, stack.bound, stack.wall).isEmpty());
    const auto legendOf = [](const StageStack& drawn) {
        StageBars bars;
        bars.setTheme(style::loadTheme(style::Mode::Light));
        bars.resize(600, 220);
        bars.show();
        bars.setRuns({{QStringLiteral("one"), {drawn}}});
        QString legend;
        for (const QWidget* part : bars.findChildren<QWidget*>())
            if (part->accessibleName().startsWith(QStringLiteral("Legend"))) legend = part->accessibleName();
        return std::pair(legend, bars.csv());
    };
    QVERIFY(!legendOf(stack).first.contains(QStringLiteral("bound")));
    QVERIFY(legendOf(stack).first.contains(QStringLiteral("compute")));
    QVERIFY(!legendOf(stack).first.contains(QStringLiteral("H2D")));
    stack.predicted = 0.2;
    stack.bound = 0.1;
    stack.wall = plan::Wall::Rows;
    QCOMPARE(boundText(stack.seconds, stack.bound, stack.wall),
             QStringLiteral("1.4 \u00d7 the bound of 100 ms (random rows)"));
    const auto [legend, csv] = legendOf(stack);
    QVERIFY2(legend.contains(QStringLiteral("predicted")) && legend.contains(QStringLiteral("bound")),
             qPrintable(legend));
    QVERIFY2(csv.contains(QStringLiteral("0.2,0.1,rows")), qPrintable(csv));
}

void TestPlots::thePrologueIsALaneOfTheTimeline()
{
    Timeline timeline;
    const style::Theme theme = style::loadTheme(style::Mode::Light);
    timeline.setTheme(theme);
    timeline.resize(600, 170);
    timeline.append(3, {4, 10, StageId(1), 0});
    timeline.setEnd(10, true);
    timeline.refresh();
    const int before = timeline.sizeHint().height();
    QVERIFY(timeline.prologueRect(timeline.size()).isEmpty());
    timeline.setPrologue(4);
    QVERIFY(timeline.sizeHint().height() > before);
    const QRect bar = timeline.prologueRect(timeline.size());
    QVERIFY(bar.width() > 0);
    QVERIFY(timeline.describe(bar.center()).startsWith(QStringLiteral("prologue")));
    QVERIFY(timeline.describe(bar.center() + QPoint(bar.width(), 0)).isEmpty());
    QCOMPARE(timeline.grab().toImage().pixelColor(bar.center()), theme.structure);
    QVERIFY(timeline.csv().contains(QStringLiteral("prologue,0,0,0,4")));
    timeline.zoom(5, 8);
    QVERIFY(timeline.prologueRect(timeline.size()).isEmpty());
    timeline.clear();
    QCOMPARE(timeline.sizeHint().height(), before);
}

void TestPlots::theTimelineHasLanesForEachGpu()
{
    Timeline timeline;
    timeline.setTheme(style::loadTheme(style::Mode::Light));
    timeline.append(3, {0, 10, StageId(2), 7});
    const int one = timeline.sizeHint().height();
    timeline.append(3, {0, 10, StageId(2), 8}, 1);
    QVERIFY(timeline.sizeHint().height() > one);
    timeline.resize(600, timeline.sizeHint().height());
    timeline.setEnd(10, true);
    timeline.refresh();
    QStringList found;
    for (int y = 0; y < timeline.height(); ++y) found << timeline.describe({400, y}).section(QLatin1Char('\n'), 0, 0);
    const QStringList first = found.filter(QStringLiteral("GPU 1")), second = found.filter(QStringLiteral("GPU 2"));
    QVERIFY(!first.filter(QStringLiteral("batch 7")).isEmpty() && first.filter(QStringLiteral("batch 8")).isEmpty());
    QVERIFY(!second.filter(QStringLiteral("batch 8")).isEmpty() && second.filter(QStringLiteral("batch 7")).isEmpty());
    timeline.clear();
    QVERIFY(timeline.sizeHint().height() <= one);
}

void TestPlots::theTimelineSaysWhatIsUnderThePointer()
{
    Timeline timeline;
    timeline.setTheme(style::loadTheme(style::Mode::Light));
    timeline.resize(600, 150);
    timeline.show();
    timeline.append(3, {0, 10, StageId(2), 7});
    timeline.setEnd(10, true);
    timeline.refresh();
    timeline.grab();
    QStringList found;
    for (int y = 0; y < timeline.height(); ++y) found << timeline.describe({400, y});
    found.removeDuplicates();
    found.removeAll(QString());
    QCOMPARE(found.size(), 1);
    QVERIFY(found.first().startsWith(QStringLiteral("compute · stage 2 · batch 7")));
}

namespace {

// Batch 0 is computed from 2 to 6 seconds; meanwhile batch 1 is copied in, from 3 to 5.
void showTwoBatches(Timeline& timeline)
{
    timeline.setTheme(style::loadTheme(style::Mode::Light));
    timeline.resize(600, 150);
    timeline.show();
    timeline.append(2, {0, 2, StageId(1), 0});
    timeline.append(3, {2, 6, StageId(1), 0});
    timeline.append(2, {3, 5, StageId(1), 1});
    timeline.append(3, {6, 10, StageId(1), 1});
    timeline.setEnd(10, true);
    timeline.refresh();
}

// A place in the lane of a phase at a moment of the ten seconds; what else is said at other heights does not matter.
QPoint placeOf(const Timeline& timeline, const QString& beginning)
{
    for (int y = 0; y < timeline.height(); ++y)
        for (int x = 0; x < timeline.width(); ++x)
            if (timeline.describe({x, y}).startsWith(beginning)) return {x + 6, y + 3};
    return {};
}

int pixelsOf(const QImage& picture, int row, QColor colour)
{
    int count = 0;
    for (int x = 0; x < picture.width(); ++x) count += picture.pixelColor(x, row) == colour ? 1 : 0;
    return count;
}

}  // namespace

void TestPlots::theTimelineSaysWhatOtherBatchesDoMeanwhile()
{
    Timeline timeline;
    showTwoBatches(timeline);
    const QString copied = timeline.describe(placeOf(timeline, QStringLiteral("H2D · stage 1 · batch 1")));
    QVERIFY2(copied.endsWith(QStringLiteral("\nat the same time: compute of batch 0")), qPrintable(copied));
    const QString alone = timeline.describe(placeOf(timeline, QStringLiteral("compute · stage 1 · batch 1")));
    QVERIFY2(!alone.isEmpty() && !alone.contains(QStringLiteral("meanwhile")), qPrintable(alone));
}

void TestPlots::theBatchUnderThePointerIsMarkedInEveryLane()
{
    Timeline timeline;
    showTwoBatches(timeline);
    const style::Theme theme = style::loadTheme(style::Mode::Light);
    const QPoint copy = placeOf(timeline, QStringLiteral("H2D · stage 1 · batch 1"));
    const QPoint compute = placeOf(timeline, QStringLiteral("compute · stage 1 · batch 1"));
    QVERIFY(!copy.isNull() && !compute.isNull());
    const auto marked = [&](const QPoint& at) { return pixelsOf(timeline.grab().toImage(), at.y() - 3, theme.text); };
    QCOMPARE(marked(copy) + marked(compute), 0);
    QTest::mouseMove(&timeline, copy);
    QTRY_VERIFY(marked(copy) > 50);
    QVERIFY(marked(compute) > 100);
    QVERIFY(marked(compute) < 300);  // of batch 0 nothing
    QTest::mouseMove(&timeline, {copy.x(), timeline.height() - 2});
    QTRY_COMPARE(marked(copy) + marked(compute), 0);
}

void TestPlots::lanesOfCopiesAppearWithTheFirstCopy()
{
    Timeline timeline, copying;
    timeline.append(3, {2, 6, StageId(1), 0});
    copying.append(3, {2, 6, StageId(1), 0});
    copying.append(2, {1, 2, StageId(1), 0});
    QVERIFY(timeline.sizeHint().height() < copying.sizeHint().height());
    copying.append(4, {6, 7, StageId(1), 0});
    const int lane = (copying.sizeHint().height() - timeline.sizeHint().height()) / 2;
    copying.clear();
    QCOMPARE(copying.sizeHint().height(), timeline.sizeHint().height());
    QVERIFY(lane > timeline.fontMetrics().height());
}

void TestPlots::theTimelineZoomsWithKeysAndBack()
{
    Timeline timeline;
    timeline.setTheme(style::loadTheme(style::Mode::Light));
    timeline.resize(600, 150);
    timeline.show();
    timeline.setEnd(10, true);
    timeline.refresh();
    const auto all = timeline.range();
    QCOMPARE(all, std::pair(0.0, 10.0));
    QTest::keyClick(&timeline, Qt::Key_Plus);
    QVERIFY(timeline.range().second - timeline.range().first < 8);
    const auto zoomed = timeline.range();
    QTest::keyClick(&timeline, Qt::Key_Right);
    QVERIFY(timeline.range().first > zoomed.first);
    QTest::keyClick(&timeline, Qt::Key_0);
    QCOMPARE(timeline.range(), all);
}

void TestPlots::aMillionIntervalsArePaintedAsCoverage()
{
    Timeline timeline;
    timeline.setTheme(style::loadTheme(style::Mode::Light));
    timeline.resize(600, 150);
    for (int at = 0; at < 1'000'000; ++at) timeline.append(at % 6, {at * 1e-5, at * 1e-5 + 1e-5, StageId(1), at});
    timeline.setEnd(10, true);
    timeline.refresh();
    const QImage picture = timeline.grab().toImage();
    QSet<QRgb> colours;
    for (int y = 0; y < picture.height(); ++y) colours.insert(picture.pixel(400, y));
    QVERIFY(colours.size() >= 7);  // six lanes and what is between them
}

void TestPlots::csvHasEveryPoint()
{
    TimePlot plot(QStringLiteral("Destinations, per second"), Unit::Count);
    fill(plot, 1000);
    QCOMPARE(plot.csv().count(QLatin1Char('\n')), 1001);
    QVERIFY(plot.csv().startsWith(QStringLiteral("seconds,\"Destinations, per second\"\n")));
    QCOMPARE(csvField(QStringLiteral("a \"b\"")), QStringLiteral("\"a \"\"b\"\"\""));
    QCOMPARE(csvField(QStringLiteral("a\rb")), QStringLiteral("\"a\rb\""));
}

HOPSCOPE_QT_SUITE(plots, TestPlots)
#include "test_plots.moc"
