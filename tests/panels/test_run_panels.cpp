#include <QComboBox>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>

#include "panels/fixture.h"
#include "panels/run_feed.h"
#include "panels/verdict_card.h"
#include "panels/worker_part.h"
#include "plots/stage_bars.h"
#include "plots/time_plot.h"
#include "plots/timeline.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::panels;
using models::Target;
using protocol::RunState;
using protocol::StageId;

class TestRunPanels : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { style::applyTheme(style::loadTheme(style::Mode::Light)); }
    void init() { failOnWarnings(); }

    void runSettingsReachTheDocument();
    void buttonsAreDisabledWithoutAPlan();
    void progressAndStagesFillWhileEventsArrive();
    void theVerdictIsShownWhenARunEnds();
    void aRunThatWasNotVerifiedIsNoWarning();
    void plotsFillWhileEventsArrive();
    void severalWorkersHaveLanesAndARateAlone();
    void aRunOnAGpuShowsItsOverlapAndWhatIsReserved();
    void theRateIsTheSameHoweverMuchIsThinned();
    void aReportIsShownBesideTheCurrentRun();
    void aFinishedRunShowsItsReport();
    void clickingABarSelectsItsStage();
    void csvTablesReadBack_data();
    void csvTablesReadBack();
    void theTraceIsValidAndComplete();
    void stagesDoNotOverlapInTime();
    void plotsAreExported_data();
    void plotsAreExported();
};

void TestRunPanels::runSettingsReachTheDocument()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makeRunPanel, {1400, 320});
    auto* memory = part<QLineEdit>(*panel, "memory");
    memory->setFocus();
    QTest::keyClicks(memory, QStringLiteral("2Gi"));
    QTest::keyClick(memory, Qt::Key_Return);
    QCOMPARE(fixture.document.settings().memory, std::optional<std::int64_t>(qint64{2} << 30));
    auto* batch = part<QLineEdit>(*panel, "batch");
    QTest::keyClicks(batch, QStringLiteral("12x8"));
    QTest::keyClick(batch, Qt::Key_Return);
    QCOMPARE(fixture.document.settings().batch, std::optional<std::int64_t>(128));
    models::Settings settings = fixture.document.settings();
    settings.memory.reset();
    settings.verify = base::VerifyMode::Full;
    settings.device = "cuda:7";
    fixture.document.setSettings(settings);
    QCOMPARE(memory->text(), QString());
    QCOMPARE(part<QComboBox>(*panel, "verify")->currentData().toInt(), static_cast<int>(base::VerifyMode::Full));
    QCOMPARE(part<QComboBox>(*panel, "device")->currentData().toString(), QStringLiteral("cuda:7"));
}

void TestRunPanels::buttonsAreDisabledWithoutAPlan()
{
    Fixture fixture;
    const auto panel = fixture.show(makeRunPanel, {1400, 320});
    for (const char* name : {"start", "pause", "stepBatch", "stepStage", "stop"})
        QVERIFY2(!part<QPushButton>(*panel, name)->isEnabled(), name);
    fixture.open();
    QTRY_VERIFY(part<QPushButton>(*panel, "start")->isEnabled());
    const auto* stop = part<QPushButton>(*panel, "stop");
    QVERIFY(!stop->isEnabled());
    models::Settings settings = fixture.document.settings();
    settings.resume = true;  // without an output folder, which would have the journal
    fixture.document.setSettings(settings);
    QVERIFY2(stop->toolTip().contains(QStringLiteral("unless it can be resumed")), qPrintable(stop->toolTip()));
}

void TestRunPanels::progressAndStagesFillWhileEventsArrive()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makeRunPanel, {1400, 320});
    auto log = std::make_shared<models::RunLog>();
    fixture.document.setRunLog(log);
    log->apply(scriptedRun(2, 4, false));
    QTRY_VERIFY(part<QProgressBar>(*panel, "runProgress")->value() > 900);
    const auto* lanes = panel->findChild<plots::Timeline*>();
    QVERIFY(!lanes->prologueRect(lanes->size()).isEmpty());
    QCOMPARE(part<QProgressBar>(*panel, "stage1")->value(), 100);
    QCOMPARE(part<QProgressBar>(*panel, "stage2")->value(), 99);
    QVERIFY(
        part<QLabel>(*panel, "runStatus")->accessibleName().startsWith(QStringLiteral("Stage 2 of 2 · 40 of 40 rows")));
    log->finish();
    QTRY_VERIFY(part<QLabel>(*panel, "runStatus")->accessibleName().startsWith(QStringLiteral("Finished after")));
    const auto status = [&] { return part<QLabel>(*panel, "runStatus")->accessibleName(); };
    const auto stopped = std::make_shared<models::RunLog>();
    fixture.document.setRunLog(stopped);
    protocol::RunEvents verifying = scriptedRun(2, 4, true);
    verifying.state = protocol::RunState::Verifying;
    stopped->apply(verifying);
    stopped->finish(models::RunEnd::Stopped);
    QTRY_VERIFY(status().startsWith(QStringLiteral("Stopped during the comparison: nothing was verified")));
    fixture.document.setRunLog(log);
    auto* timeline = part<plots::Timeline>(*panel, "timeline");
    QTRY_COMPARE(timeline->csv().count(QLatin1Char('\n')), 2 + 2 * 4 * protocol::phaseCount);  // with the prologue
}

void TestRunPanels::theVerdictIsShownWhenARunEnds()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makeRunPanel, {1400, 320});
    fixture.document.addRun(
        {QStringLiteral("run 1"), std::make_shared<const schema::Report>(report(schema::Verdict::Equal)), nullptr, {}});
    emit fixture.workbench.runFinished();
    QCOMPARE(part<QTabWidget>(*panel, "runTabs")->currentWidget()->objectName(), QStringLiteral("verdictArea"));
    QCOMPARE(text(*panel, "verdictHeadline"), QStringLiteral("Equal: 2,708 of 2,708 rows, largest difference 3e-07"));
    QCOMPARE(part<QLabel>(*panel, "runResult")->accessibleName(),
             QStringLiteral("run 1 · 2.00 s · ") + text(*panel, "verdictHeadline"));
    const style::Theme theme = style::loadTheme(style::Mode::Light);
    QCOMPARE(part<QLabel>(*panel, "verdictHeadline")->palette().color(QPalette::WindowText), theme.good);
    fixture.document.addRun({QStringLiteral("run 2"),
                             std::make_shared<const schema::Report>(report(schema::Verdict::Different)),
                             nullptr,
                             {}});
    QCOMPARE(part<QLabel>(*panel, "verdictHeadline")->palette().color(QPalette::WindowText), theme.bad);
    QCOMPARE(part<QTableView>(*panel, "differences")->model()->rowCount(), 2);
    QCOMPARE(part<QTableView>(*panel, "runs")->model()->rowCount(), 2);
}

// The card and the status line have one rule.
void TestRunPanels::aRunThatWasNotVerifiedIsNoWarning()
{
    const style::Theme theme = style::loadTheme(style::Mode::Light);
    using Found = std::optional<schema::Verdict>;
    const std::tuple<Found, bool, const char*, QColor> cases[] = {
        {std::nullopt, true, "", theme.text},
        {std::nullopt, false, "warning", theme.warning},
        {schema::Verdict::Equal, true, "good", theme.good},
        {schema::Verdict::Equal, false, "warning", theme.warning},
        {schema::Verdict::Different, true, "bad", theme.bad},
        {schema::Verdict::Unverifiable, true, "warning", theme.warning},
    };
    for (const auto& [kind, finite, tone, colour] : cases) {
        const ShownVerdict verdict{.kind = kind, .headline = {}, .detail = {}, .finite = finite};
        QCOMPARE(toneOf(verdict), QString::fromLatin1(tone));
        QCOMPARE(colourOf(verdict, theme), colour);
    }
}

void TestRunPanels::plotsFillWhileEventsArrive()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makeRunPlots, {700, 600});
    QVERIFY(part<QLabel>(*panel, "noRun")->isVisible());
    auto log = std::make_shared<models::RunLog>();
    fixture.document.setRunLog(log);
    log->apply(scriptedRun(2, 4, false));
    auto* bars = part<plots::StageBars>(*panel, "stageBars");
    QTRY_COMPARE(bars->runs().size(), std::size_t(1));
    QTRY_COMPARE(bars->runs().front().stages.size(), std::size_t(2));
    QVERIFY(std::abs(bars->runs().front().stages.front().phases.sum() - 0.024) < 1e-9);
    auto* memory = part<plots::TimePlot>(*panel, "memoryPlot");
    QTRY_COMPARE(memory->series().largest(), 1003.0);
    QVERIFY(memory->isVisible() && memory->drawnPoints() > 8);
    fixture.document.setRunLog(std::make_shared<models::RunLog>());  // another run starts over
    QTRY_COMPARE(memory->series().size(), std::size_t(0));
}

// Two workers, a shard of 100 rows in each second of each.
void TestRunPanels::severalWorkersHaveLanesAndARateAlone()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makeRunPanel, {1400, 320});
    const auto plots = fixture.show(makeRunPlots, {700, 600});
    auto log = std::make_shared<models::RunLog>();
    fixture.document.setRunLog(log);
    protocol::RunEvents run;
    run.state = RunState::Running;
    for (const int worker : {1, 2})
        run.events.emplace_back(protocol::WorkerEvent{worker, protocol::WorkerNews::Joined, "node", "", 0});
    run.events.emplace_back(
        protocol::StageEvent{.index = StageId(1), .count = 2, .destinations = 2000, .time = 0, .shards = 20});
    for (int number = 1; number <= 20; ++number) {
        protocol::ShardEvent shard{
            .worker = 1 + number % 2, .outcome = protocol::ShardOutcome::Computed, .shard = number};
        shard.begin = (number - 1) / 2;
        shard.end = shard.time = shard.begin + 1;
        shard.destinations = 100;
        shard.done = 100 * number;
        run.events.emplace_back(shard);
    }
    log->apply(run);
    QTRY_VERIFY(part<WorkerPart>(*panel, "workers")->isVisible());
    QVERIFY(!part<plots::Timeline>(*panel, "timeline")->isVisible());
    QTRY_COMPARE(part<QProgressBar>(*panel, "runProgress")->value(), 500);
    auto* rate = part<plots::TimePlot>(*plots, "ratePlot");
    QTRY_VERIFY(rate->series().size() >= 9);
    for (const plots::Point& point : rate->series().points()) QCOMPARE(point.y, point.x <= 1 ? 100.0 : 200.0);
    QVERIFY(rate->isVisible() && part<QLabel>(*plots, "plotsOfWorkers")->isVisible());
    QVERIFY(!part<plots::TimePlot>(*plots, "memoryPlot")->isVisible());
    QVERIFY(!part<plots::StageBars>(*plots, "stageBars")->isVisible());
    fixture.document.setRunLog(std::make_shared<models::RunLog>());
    QTRY_VERIFY(part<plots::Timeline>(*panel, "timeline")->isVisible());
    QTRY_VERIFY(part<plots::TimePlot>(*plots, "memoryPlot")->isVisible());
    QVERIFY(!part<QLabel>(*plots, "plotsOfWorkers")->isVisible());
}

void TestRunPanels::aRunOnAGpuShowsItsOverlapAndWhatIsReserved()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makeRunPanel, {1400, 320});
    const auto plots = fixture.show(makeRunPlots, {700, 600});
    auto* memory = part<plots::TimePlot>(*plots, "memoryPlot");
    auto log = std::make_shared<models::RunLog>();
    fixture.document.setRunLog(log);
    protocol::RunEvents events = scriptedRun(2, 4, true);
    log->apply(events);
    QTRY_COMPARE(memory->series().largest(), 1003.0);
    QCOMPARE(memory->second().size(), std::size_t(0));  // a CPU reserves nothing
    for (protocol::RunEvent& event : events.events) {
        if (auto* batch = std::get_if<protocol::BatchEvent>(&event)) batch->reservedMemory = 4000;
        if (auto* end = std::get_if<protocol::StageEndEvent>(&event)) end->overlap = 0.75;
    }
    log = std::make_shared<models::RunLog>();
    fixture.document.setRunLog(log);
    log->apply(events);
    QTRY_VERIFY(part<QLabel>(*panel, "stage2Status")
                    ->text()
                    .endsWith(QStringLiteral("copying and computation overlapped: 75 %")));
    QVERIFY(part<QLabel>(*panel, "stage2Status")->toolTip().contains(QStringLiteral("reserved: 3.9 KiB")));
    QTRY_COMPARE(memory->second().size(), std::size_t(8));
    QCOMPARE(memory->second().largest(), 4000.0);
}

void TestRunPanels::theRateIsTheSameHoweverMuchIsThinned()
{
    models::RunLog log(nullptr, 16);
    plots::Series memory, reserved, rate, size;
    BatchFeed feed(memory, reserved, rate, size);
    for (int batch = 1; batch <= 200; ++batch) {
        protocol::BatchEvent event;
        event.destinations = 10;
        event.time = batch * 0.5;
        protocol::RunEvents events;
        events.events.push_back(event);
        log.apply(events);
        feed.read(&log);
    }
    QVERIFY(log.thinnings() > 5);
    QVERIFY(rate.size() > 3);
    for (const plots::Point& point : rate.points()) QCOMPARE(point.y, 20.0);
    for (const plots::Point& point : size.points()) QCOMPARE(point.y, 10.0);
}

void TestRunPanels::aReportIsShownBesideTheCurrentRun()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makeRunPlots, {700, 600});
    auto* bars = part<plots::StageBars>(*panel, "stageBars");
    fixture.document.addRun({QStringLiteral("a.json"),
                             std::make_shared<const schema::Report>(report(schema::Verdict::Equal)),
                             nullptr,
                             {}});
    QTRY_COMPARE(bars->runs().size(), std::size_t(1));
    QCOMPARE(bars->runs().front().title, QStringLiteral("a.json"));
    QVERIFY(!part<plots::TimePlot>(*panel, "memoryPlot")->isVisible());  // a report has no events
    auto log = std::make_shared<models::RunLog>();
    fixture.document.setRunLog(log);
    log->apply(scriptedRun(2, 4, true));
    fixture.document.addRun({QStringLiteral("b.json"),
                             std::make_shared<const schema::Report>(report(schema::Verdict::Equal)),
                             nullptr,
                             {}});
    QTRY_COMPARE(bars->runs().size(), std::size_t(2));
    QCOMPARE(bars->runs().back().title, QStringLiteral("b.json"));
    QVERIFY(std::abs(bars->runs().back().stages.front().phases.sum() - 2.1) < 1e-9);
    part<QComboBox>(*panel, "otherRun")->setCurrentIndex(0);
    QTRY_COMPARE(bars->runs().size(), std::size_t(1));
}

void TestRunPanels::aFinishedRunShowsItsReport()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makeRunPlots, {700, 600});
    auto* bars = part<plots::StageBars>(*panel, "stageBars");
    auto log = std::make_shared<models::RunLog>();
    fixture.document.setRunLog(log);
    log->apply(scriptedRun(2, 4, true));
    fixture.document.addRun(
        {QStringLiteral("run 1"), std::make_shared<const schema::Report>(report(schema::Verdict::Equal)), log, {}});
    QTRY_COMPARE(bars->runs().size(), std::size_t(1));
    QTRY_VERIFY(std::abs(bars->runs().front().stages.front().phases.sum() - 2.1) < 1e-9);
}

void TestRunPanels::clickingABarSelectsItsStage()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makeRunPlots, {700, 600});
    fixture.document.setRunLog(std::make_shared<models::RunLog>());
    fixture.document.runLog()->apply(scriptedRun(2, 4, true));
    auto* bars = part<plots::StageBars>(*panel, "stageBars");
    QTRY_VERIFY(!bars->barRect(protocol::StageId(2)).isEmpty());
    panel->grab();
    auto* canvas = part<QWidget>(*bars, "canvas");
    QTest::mouseClick(canvas, Qt::LeftButton, {}, canvas->mapFrom(bars, bars->barRect(protocol::StageId(2)).center()));
    QCOMPARE(fixture.selection.current(), Target::stage(protocol::StageId(2)));
}

void TestRunPanels::csvTablesReadBack_data()
{
    QTest::addColumn<QString>("what");
    QTest::addColumn<int>("rows");
    QTest::newRow("ops") << "ops" << 12;
    QTest::newRow("checkpoints") << "checkpoints" << 2;
    QTest::newRow("stages") << "stages" << 2;
    QTest::newRow("batches") << "batches" << 6;
    QTest::newRow("phases") << "phases" << 36;
}

void TestRunPanels::csvTablesReadBack()
{
    QFETCH(QString, what);
    QFETCH(int, rows);
    Fixture fixture;
    QVERIFY(exportCsv(fixture.document, what).isEmpty());
    fixture.open();
    fixture.document.setRunLog(std::make_shared<models::RunLog>());
    fixture.document.runLog()->apply(scriptedRun(2, 3, true));
    const QStringList lines = exportCsv(fixture.document, what).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), rows + 1);
    const qsizetype columns = lines.first().count(QLatin1Char(','));
    for (const QString& line : lines) QCOMPARE(line.count(QLatin1Char(',')), columns);  // no field of these has a comma
    QVERIFY(exportCsv(fixture.document, QStringLiteral("nonsense")).isEmpty());
}

void TestRunPanels::theTraceIsValidAndComplete()
{
    Fixture fixture;
    QVERIFY(exportTrace(fixture.document).isEmpty());
    fixture.document.setRunLog(std::make_shared<models::RunLog>());
    fixture.document.runLog()->apply(scriptedRun(2, 3, true));
    const auto trace = json::parse(exportTrace(fixture.document).toStdString());
    QVERIFY2(trace.has_value(), trace ? "" : trace.error().message.c_str());
    std::map<std::string, int> kinds;
    double compute = 0;
    for (const json::Value& event : *trace->find("traceEvents")->asArray()) {
        ++kinds[*event.find("ph")->asString()];
        QVERIFY(event.find("ts") != nullptr && event.find("pid") != nullptr && event.find("tid") != nullptr);
        if (*event.find("name")->asString() == "compute") compute += *event.find("dur")->asDouble();
    }
    QCOMPARE(kinds["M"], 1 + protocol::phaseCount);
    QCOMPARE(kinds["X"], 2 + 2 * 3 * protocol::phaseCount);
    QCOMPARE(kinds["C"], 6);
    QVERIFY(std::abs(compute - 6000) < 1e-6);  // microseconds
}

// A stage's seconds of work are not its place on the run's clock: they are longer if its start was told late, shorter after
// a pause.
void TestRunPanels::stagesDoNotOverlapInTime()
{
    Fixture fixture;
    const auto log = std::make_shared<models::RunLog>();
    fixture.document.setRunLog(log);
    protocol::RunEvents events;
    for (const auto& [stage, seconds] : {std::pair{protocol::StageId(1), 1.3}, std::pair{protocol::StageId(2), 0.4}}) {
        const double start = stage.number - 1;
        events.events.push_back(protocol::StageEvent{stage, 2, 100, start});
        events.events.push_back(protocol::StageEndEvent{stage, seconds, start + 1, {}});
    }
    log->apply(events);
    const std::vector<plots::Band> bands = bandsOf(*log, nullptr, 0);
    QCOMPARE(bands.size(), std::size_t(2));
    QCOMPARE(bands[0].to, bands[1].from);
    QCOMPARE(bands[1].to, 2.0);
    const auto trace = json::parse(exportTrace(fixture.document).toStdString());
    for (const json::Value& event : *trace->find("traceEvents")->asArray())
        if (*event.find("ph")->asString() == "X") QCOMPARE(*event.find("dur")->asDouble(), 1e6);
}

void TestRunPanels::plotsAreExported_data()
{
    QTest::addColumn<QString>("suffix");
    QTest::addColumn<QByteArray>("begins");
    QTest::newRow("svg") << "svg" << QByteArray("<?xml");
    QTest::newRow("pdf") << "pdf" << QByteArray("%PDF");
    QTest::newRow("png") << "png" << QByteArray("\x89PNG");
    QTest::newRow("csv") << "csv" << QByteArray("run,stage,seconds,block");
}

void TestRunPanels::plotsAreExported()
{
    QFETCH(QString, suffix);
    QFETCH(QByteArray, begins);
    OpenFixture fixture;
    const auto panel = fixture.show(makeRunPlots, {700, 600});
    fixture.document.setRunLog(std::make_shared<models::RunLog>());
    fixture.document.runLog()->apply(scriptedRun(2, 3, true));
    QTRY_VERIFY(part<plots::TimePlot>(*panel, "memoryPlot")->series().size() > 0);
    const QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("plots.") + suffix);
    QCOMPARE(exportPlots(*panel, file), QString());
    QFile written(file);
    QVERIFY(written.open(QIODevice::ReadOnly));
    const QByteArray bytes = written.readAll();
    QVERIFY(bytes.startsWith(begins));
    if (suffix == QLatin1String("svg")) QVERIFY(bytes.contains("Device memory") && bytes.contains("Stage 2"));
    QVERIFY(!exportPlots(*panel, folder.filePath(QStringLiteral("plots.bmp"))).isEmpty());
    QVERIFY(!exportPlots(*panel, folder.filePath(QStringLiteral("no/folder/plots.svg"))).isEmpty());
}

HOPSCOPE_QT_SUITE(run_panels, TestRunPanels)
#include "test_run_panels.moc"
