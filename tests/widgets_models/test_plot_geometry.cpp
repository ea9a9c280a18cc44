#include <QTest>
#include <array>
#include <cmath>
#include <random>

#include "plots/axis_units.h"
#include "plots/lanes.h"
#include "plots/series.h"
#include "support/qt_suites.h"

using namespace hopscope::plots;

class TestPlotGeometry : public QObject {
    Q_OBJECT
private slots:
    void labelsAreReadable_data();
    void labelsAreReadable();
    void ticksAreRoundNumbersInsideOfTheRange();
    void growingAxesChangeSeldom();
    void fewPointsAreDrawnAsTheyAre();
    void manyPointsKeepTheirExtremesInEveryWindow();
    void theNearestPointIsFound();
    void lanesFindWhatTouchesARange();
    void barsStandAtTheirTrueTimes();
    void wideBarsThatTouchAreToldApartAndNarrowOnesAreNot();
    void batchesOfAPipelineOverlapBetweenLanesAndNeverWithinOne();
    void coverageAddsUpToTheCoveredTime();
};

void TestPlotGeometry::labelsAreReadable_data()
{
    QTest::addColumn<double>("value");
    QTest::addColumn<double>("upper");
    QTest::addColumn<int>("unit");
    QTest::addColumn<QString>("label");
    const auto row = [](double value, double upper, Unit unit, const char* label) {
        QTest::addRow("%s", label) << value << upper << static_cast<int>(unit) << QString::fromUtf8(label);
    };
    row(0, 1, Unit::Seconds, "0");
    row(0.2, 1, Unit::Seconds, "200 ms");
    row(1.5, 2, Unit::Seconds, "1.5 s");
    row(8, 12, Unit::Seconds, "8 s");
    row(600, 900, Unit::Seconds, "10 min");
    row(2e-5, 1e-4, Unit::Seconds, "20 µs");
    row(512 * 1024, 1023 * 1024, Unit::Bytes, "512 KiB");
    row(4.0 * 1024 * 1024 * 1024, 6.0 * 1024 * 1024 * 1024, Unit::Bytes, "4 GiB");
    row(500, 2000, Unit::Count, "500");
    row(20000, 60000, Unit::Count, "20 k");
}

void TestPlotGeometry::labelsAreReadable()
{
    QFETCH(double, value);
    QFETCH(double, upper);
    QFETCH(int, unit);
    QFETCH(QString, label);
    const Scale scale = scaleFor(upper == 1 && unit == 0 ? 0.9 : upper, static_cast<Unit>(unit));
    QCOMPARE(tickLabel(value, tickStep(0, upper, 5, scale), scale), label);
}

void TestPlotGeometry::ticksAreRoundNumbersInsideOfTheRange()
{
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> exponent(-8, 12);
    for (int round = 0; round < 200; ++round) {
        const double upper = std::pow(10.0, exponent(random));
        for (const Unit unit : {Unit::Seconds, Unit::Bytes, Unit::Count}) {
            const double step = tickStep(0, upper, 5, scaleFor(upper, unit));
            const QVector<double> found = ticks(0, upper, step);
            QVERIFY2(found.size() >= 2 && found.size() <= 12, qPrintable(QString::number(upper)));
            QVERIFY(found.last() <= upper * (1 + 1e-9));
        }
    }
    QVERIFY(ticks(0, 1, 0).isEmpty());
}

void TestPlotGeometry::growingAxesChangeSeldom()
{
    double end = 1;
    int changes = 0;
    for (double now = 0.001; now < 1000; now += 0.01) {
        const double next = growingEnd(end, now);
        QVERIFY(next >= now);
        changes += next != end ? 1 : 0;
        end = next;
    }
    QVERIFY(changes < 80);
}

void TestPlotGeometry::fewPointsAreDrawnAsTheyAre()
{
    Series series;
    for (int at = 0; at < 10; ++at) series.append(at, at * at);
    QCOMPARE(series.thinned(0, 9, 100), series.points());
    QCOMPARE(series.thinned(3.5, 5.5, 100).size(), std::size_t(4));  // 3 and 6 lie beyond the ends
    QVERIFY(Series().thinned(0, 1, 10).empty());
}

void TestPlotGeometry::manyPointsKeepTheirExtremesInEveryWindow()
{
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> value(-100, 100);
    Series series;
    for (int at = 0; at < 20'000; ++at) series.append(at, value(random));
    std::uniform_int_distribution<int> place(0, 19'999);
    for (int round = 0; round < 100; ++round) {
        const int one = place(random), other = place(random);
        const int from = std::min(one, other), to = std::max(one, other);
        constexpr std::size_t limit = 300;
        const std::vector<Point> drawn = series.thinned(from, to, limit);
        QVERIFY(drawn.size() <= 2 * limit + 4);
        double least = 1e9, most = -1e9, drawnLeast = 1e9, drawnMost = -1e9;
        for (int at = from; at <= to; ++at) {
            least = std::min(least, series.points()[static_cast<std::size_t>(at)].y);
            most = std::max(most, series.points()[static_cast<std::size_t>(at)].y);
        }
        for (std::size_t at = 0; at < drawn.size(); ++at) {
            QVERIFY(at == 0 || drawn[at - 1].x <= drawn[at].x);
            drawnLeast = std::min(drawnLeast, drawn[at].y);
            drawnMost = std::max(drawnMost, drawn[at].y);
        }
        QVERIFY(drawnLeast <= least && drawnMost >= most);
    }
}

void TestPlotGeometry::theNearestPointIsFound()
{
    Series series;
    QVERIFY(series.nearest(1) == nullptr);
    for (const double x : {1.0, 2.0, 4.0}) series.append(x, 10 * x);
    QCOMPARE(series.nearest(-5)->x, 1.0);
    QCOMPARE(series.nearest(2.9)->x, 2.0);
    QCOMPARE(series.nearest(3.1)->x, 4.0);
    QCOMPARE(series.nearest(99)->x, 4.0);
    series.append(3, 0);
    QCOMPARE(series.lastX(), 4.0);  // never backwards
}

void TestPlotGeometry::lanesFindWhatTouchesARange()
{
    Lane lane;
    lane.append({4, 5, hopscope::plan::StageId(2), 1});
    lane.append({0, 1, hopscope::plan::StageId(1), 0});
    lane.append({6, 8, hopscope::plan::StageId(2), 2});
    QCOMPARE(lane.intervals().front().stage.number, 1);
    QCOMPARE(lane.within(0.5, 4.5), std::pair(std::size_t(0), std::size_t(2)));
    QVERIFY(lane.at(2) == nullptr);
    QCOMPARE(lane.at(7)->batch, 2);
}

void TestPlotGeometry::barsStandAtTheirTrueTimes()
{
    Lane lane;
    lane.append({1, 2, hopscope::plan::StageId(1), 0});
    lane.append({3, 3.0001, hopscope::plan::StageId(1), 1});
    lane.append({4, 12, hopscope::plan::StageId(1), 2});
    lane.append({20, 21, hopscope::plan::StageId(1), 3});
    const std::vector<Bar> bars = barsOf(lane, 0, 10, 50, 100);  // ten pixels a second
    QCOMPARE(bars.size(), std::size_t(3));
    QCOMPARE(std::pair(bars[0].left, bars[0].width), std::pair(60.0, 10.0));
    QCOMPARE(std::pair(bars[1].left, bars[1].width), std::pair(80.0, 1.0));   // never invisible
    QCOMPARE(std::pair(bars[2].left, bars[2].width), std::pair(90.0, 80.0));  // beyond the end
    QCOMPARE(bars[2].interval->batch, 2);
}

void TestPlotGeometry::wideBarsThatTouchAreToldApartAndNarrowOnesAreNot()
{
    Lane lane;
    for (int at = 0; at < 4; ++at) lane.append({at * 1.0, at + 1.0, hopscope::plan::StageId(1), at});
    const std::vector<Bar> wide = barsOf(lane, 0, 4, 0, 400);
    for (std::size_t at = 1; at < wide.size(); ++at)
        QCOMPARE(wide[at - 1].left + wide[at - 1].width, wide[at].left - 1);
    QCOMPARE(wide.back().width, 100.0);
    const std::vector<Bar> narrow = barsOf(lane, 0, 4, 0, 8);
    for (const Bar& bar : narrow) QCOMPARE(bar.width, 2.0);
}

void TestPlotGeometry::batchesOfAPipelineOverlapBetweenLanesAndNeverWithinOne()
{
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> length(0.01, 1);
    constexpr std::size_t lanes = 6;
    for (int round = 0; round < 50; ++round) {
        std::array<Lane, lanes> all;
        std::array<double, lanes> free{};
        for (int batch = 0; batch < 30; ++batch) {  // batch by batch, as events come
            double now = 0;
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                const double start = std::max(now, free[lane]);
                now = free[lane] = start + length(random);
                all[lane].append({start, now, hopscope::plan::StageId(1), batch});
            }
        }
        std::vector<const Lane*> pointers;
        for (const Lane& lane : all) pointers.push_back(&lane);
        int atOnceSeen = 0;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const std::vector<Bar> bars = barsOf(all[lane], 0, free.back(), 0, 5000);
            QCOMPARE(bars.size(), std::size_t(30));
            for (std::size_t at = 1; at < bars.size(); ++at)
                QVERIFY2(bars[at - 1].left + bars[at - 1].width <= bars[at].left + 1e-6,
                         qPrintable(QStringLiteral("round %1, lane %2, bar %3").arg(round).arg(lane).arg(at)));
            for (const Bar& bar : bars)
                for (const auto& [other, interval] :
                     atOnce(pointers, (bar.interval->start + bar.interval->end) / 2, lane)) {
                    QVERIFY(other != lane && interval->batch != bar.interval->batch);
                    ++atOnceSeen;
                }
        }
        QVERIFY2(atOnceSeen > 100, qPrintable(QStringLiteral("round %1: %2").arg(round).arg(atOnceSeen)));
    }
}

void TestPlotGeometry::coverageAddsUpToTheCoveredTime()
{
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> length(0, 0.01);
    Coverage coverage;
    coverage.reset(0, 10, 200);
    double at = 0, covered = 0;
    while (at < 9.9) {
        const double busy = length(random), idle = length(random);
        coverage.add({at, at + busy, hopscope::plan::StageId(1), 0});
        covered += busy;
        at += busy + idle;
    }
    double sum = 0;
    for (const float pixel : coverage.pixels()) sum += static_cast<double>(pixel) * 10 / 200;
    QVERIFY2(std::abs(sum - covered) < 1e-3, qPrintable(QStringLiteral("%1 %2").arg(sum).arg(covered)));
    coverage.add({-5, -4, hopscope::plan::StageId(1), 0});
    coverage.add({50, 60, hopscope::plan::StageId(1), 0});
}

HOPSCOPE_QT_SUITE(plot_geometry, TestPlotGeometry)
#include "test_plot_geometry.moc"
