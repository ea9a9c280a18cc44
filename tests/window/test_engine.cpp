// The window with the real engine: a bundled sample from opening it to the proof.

#include <QAction>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>
#include <QtEndian>
#include <cstring>
#include <limits>

#include "bed.h"
#include "checks.h"
#include "models/labels.h"
#include "models/roles.h"
#include "models/run_log.h"
#include "open_dialog.h"
#include "panels/machine_dialog.h"
#include "plots/timeline.h"
#include "remote_files.h"
#include "study/tensors/follow_panel.h"
#include "support/qt_suites.h"

using namespace hopscope;
using bed::Bed;
using bed::child;

namespace {

// An engine that is started meanwhile finds no agreement but those in `folder`.
class Trusting {
public:
    explicit Trusting(const QString& folder) : m_before(qgetenv("HOPSCOPE_TRUST"))
    {
        qputenv("HOPSCOPE_TRUST", "");
        qputenv("XDG_CONFIG_HOME", folder.toLocal8Bit());
    }
    ~Trusting()
    {
        qputenv("HOPSCOPE_TRUST", m_before);
        qunsetenv("XDG_CONFIG_HOME");
    }

private:
    QByteArray m_before;
};

}  // namespace

class TestEngine : public QObject {
    Q_OBJECT
private slots:
    void everySampleIsOpenedPlannedRunAndProved_data();
    void everySampleIsOpenedPlannedRunAndProved();
    void theInspectorShowsTheOperatorsSchema();
    void aChangedCutIsPlannedRunAndProved();
    void everyKindOfPinIsKeptRunAndProved();
    void aPlanIsExplainedValueByValue();
    void aNodeIsFollowedThroughTheStages_data();
    void aNodeIsFollowedThroughTheStages();
    void theMachineIsMeasuredAndForgotten();
    void aRunThatWasStartedElsewhereIsShown();
    void resultsThatAreNotFiniteAreSaidOnTheTabsToo();
    void tabsCountProblemsUntilTheyAreGone();
    void whatIsNoModelIsRefusedInWords();
    void aStrangersModelIsDrawnUntilTheUserAgrees_data();
    void aStrangersModelIsDrawnUntilTheUserAgrees();
    void aRunWithoutDataOffersToChooseThem();
    void aFolderIsChosenWhereTheEngineIs();

private:
    static bool openSample(Bed& bed, const QString& name)
    {
        const QString model = bed::sample(name);
        return bed.open(model, {QFileInfo(model).path() + "/graph.safetensors"});
    }
};

void TestEngine::everySampleIsOpenedPlannedRunAndProved_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("depth");
    QTest::newRow("karate gcn") << "karate/gcn.pt" << 2;
    QTest::newRow("digits sage") << "digits/sage.pt" << 2;
    QTest::newRow("digits jknet") << "digits/jknet.pt" << 3;
    QTest::newRow("digits gat") << "digits/gat.pt" << 2;
}

void TestEngine::everySampleIsOpenedPlannedRunAndProved()
{
    QFETCH(QString, name);
    QFETCH(int, depth);
    Bed bed(bed::realSetup());
    QVERIFY2(openSample(bed, name), qPrintable(bed.window->banner().sentence()));
    QCOMPARE(bed.window->document().model()->depthModule, depth);
    QVERIFY(bed.window->document().plan()->predicted.has_value());
    QVERIFY2(bed.run(), qPrintable(bed.window->banner().sentence()));
    const schema::Report& report = *bed.window->document().runs().front().report;
    QCOMPARE(report.verify->verdict, schema::Verdict::Equal);
    QVERIFY(bed.window->document().runLog()->batches().size() >= static_cast<std::size_t>(depth));
}

void TestEngine::theInspectorShowsTheOperatorsSchema()
{
    Bed bed(bed::realSetup());
    QVERIFY(openSample(bed, "karate/gcn.pt"));
    const auto& ops = bed.window->document().model()->ops;
    const auto relu = std::ranges::find(ops, std::string("aten::relu"), &protocol::OpRecord::name);
    QVERIFY(relu != ops.end());
    bed.window->selection().select(models::Target::op(protocol::OpId(static_cast<std::size_t>(relu - ops.begin()))));
    const auto* schema = bed.window->findChild<QLabel*>(QStringLiteral("inspectorSchema"));
    QTRY_COMPARE(schema->text(), QStringLiteral("aten::relu(Tensor self) -> Tensor"));
    QVERIFY(schema->isVisible());
    bed.window->selection().select(models::Target::stage(protocol::StageId(1)));
    QTRY_VERIFY(!schema->isVisible());
}

void TestEngine::aChangedCutIsPlannedRunAndProved()
{
    Bed bed(bed::realSetup());
    QVERIFY(openSample(bed, "digits/jknet.pt"));
    const models::PlanPtr before = bed.window->document().plan();
    const auto hidden = std::find_if(before->checkpoints.begin(), before->checkpoints.end(),
                                     [](const protocol::PlanCheckpoint& checkpoint) { return !checkpoint.output; });
    QVERIFY(hidden != before->checkpoints.end());
    bed.window->workbench().pin({base::PinKind::NoCheckpoint, hidden->value});
    QTRY_VERIFY(!bed.window->workbench().busy());
    if (bed.window->document().refusal().isEmpty()) {
        QVERIFY(bed.window->document().plan()->checkpointOf(hidden->value) == nullptr);
        QVERIFY(bed.run());
        QCOMPARE(bed.window->document().runs().back().report->verify->verdict, schema::Verdict::Equal);
        bed.window->workbench().undoStack().undo();
    }
    QTRY_VERIFY(bed.window->document().plan()->checkpointOf(hidden->value) != nullptr);
}

void TestEngine::everyKindOfPinIsKeptRunAndProved()
{
    Bed bed(bed::realSetup());
    QVERIFY(openSample(bed, "digits/jknet.pt"));
    const models::Document& document = bed.window->document();
    const models::ModelPtr model = document.model();
    const auto gather = std::ranges::find(model->ops, protocol::NodeKind::Gather, &protocol::OpRecord::kind);
    QVERIFY(gather != model->ops.end());
    const protocol::ValueId made = gather->outputs.front(), read = gather->inputs.front();
    jobs::Workbench& bench = bed.window->workbench();
    bench.pin({base::PinKind::HopStage, made, {}, plan::StageId(2)});
    QTRY_VERIFY(!bench.busy());
    if (!document.refusal().isEmpty()) {
        QTRY_VERIFY(!document.repairs().empty());
        bench.repair("one more stage", document.repairs().front());
    }
    bench.pin({base::PinKind::Cut, read, made});
    bench.pin({base::PinKind::NoRecompute, read});
    QTRY_VERIFY(!bench.busy());
    QVERIFY2(document.refusal().isEmpty(), qPrintable(document.refusal()));
    QCOMPARE(document.plan()->pins.size(), std::size_t{3});
    QCOMPARE(document.plan()->stagesOf(protocol::OpId(static_cast<std::size_t>(gather - model->ops.begin()))),
             std::vector{protocol::StageId(2)});
    QVERIFY(document.plan()->checkpointOf(gather->inputs.front()) != nullptr);
    QVERIFY(bed.run());
    QCOMPARE(document.runs().back().report->verify->verdict, schema::Verdict::Equal);
}

void TestEngine::aPlanIsExplainedValueByValue()
{
    Bed bed(bed::realSetup());
    QVERIFY(openSample(bed, "digits/jknet.pt"));
    bed.window->docks().reveal("why");
    const models::Document& document = bed.window->document();
    QTRY_VERIFY(document.explained().explanation != nullptr);
    const schema::Explanation& why = *document.explained().explanation;
    QVERIFY(!why.decisions.empty());
    QCOMPARE(why.against.size(), std::size_t{2});
    QVERIFY(document.plan()->cost && std::abs(why.cost - *document.plan()->cost) < 1e-6 * why.cost);
}

void TestEngine::aNodeIsFollowedThroughTheStages_data()
{
    QTest::addColumn<QString>("name");
    for (const char* name :
         {"karate/gcn.pt", "digits/sage.pt", "digits/jknet.pt", "digits/gat.pt", "digits/residual.pt"})
        QTest::newRow(name) << name;
}

// Its rows are those of the whole values, which the panel Tensor shows.
void TestEngine::aNodeIsFollowedThroughTheStages()
{
    QFETCH(QString, name);
    constexpr qint64 node = 17;
    Bed bed(bed::realSetup());
    QVERIFY(openSample(bed, name));
    QVERIFY(bed.run());
    auto* panel = static_cast<study::FollowPanel*>(bed.window->docks().dock("follow")->widget());
    bed.window->docks().bring("follow");
    panel->follow(node);
    QTRY_VERIFY(!panel->busy());
    QVERIFY2(panel->followed() == node, qPrintable(bed::child<QLabel>(*panel, "followState")->text()));
    const models::Document& document = bed.window->document();
    const auto* rows = bed::child<QTableView>(*panel, "followRows")->model();
    QCOMPARE(rows->rowCount(), static_cast<int>(document.plan()->checkpoints.size()));
    for (int row = 0; row < rows->rowCount(); ++row) {
        const QVariantList numbers = rows->index(row, 3).data(study::RowPainter::PictureRole).toList();
        const auto value = rows->index(row, 0).data(models::TargetRole).value<models::Target>().valueId();
        // All rows, in the batches of the plan.
        std::optional<schema::TensorSummary> stored;
        jobs::EngineQueries& queries = bed.window->workbench().queries();
        queries.tensor({.value = models::text(document.model()->values[value].id)}, panel,
                       [&](const auto& answer) { stored = *answer; });
        QTRY_VERIFY(stored.has_value());
        std::vector<double> expected;
        queries.tensorRows(*stored->tensor, node, node + 1, panel,
                           [&](const auto& answer) { expected = answer->numbers; });
        QTRY_VERIFY(!expected.empty());
        QCOMPARE(numbers.size(), std::min<qsizetype>(std::ssize(expected), schema::mostWatchedNumbers));
        for (qsizetype i = 0; i < numbers.size(); ++i) {
            const double written = expected[static_cast<std::size_t>(i)], watched = numbers[i].toDouble();
            QVERIFY2(std::abs(written - watched) <= 1e-5 + 1e-4 * std::abs(written), qPrintable(QString::number(row)));
        }
    }
    QVERIFY(bed::child<QComboBox>(*panel, "followAggregation")->count() >= 2);
    const auto* messages = bed::child<QTableView>(*panel, "followMessages")->model();
    QVERIFY(messages->rowCount() > 0);
    double shares = 0, before = 1;
    for (int row = 0; row < messages->rowCount(); ++row) {
        const double share = messages->index(row, 3).data(models::SortRole).toDouble();
        QVERIFY(share <= before);
        shares += before = share;
    }
    QVERIFY2(shares > 0.5 && shares < 1 + 1e-6, qPrintable(QString::number(shares)));
}

void TestEngine::theMachineIsMeasuredAndForgotten()
{
    const QTemporaryDir cache;  // other tests go on with a typical machine
    qputenv("XDG_CACHE_HOME", cache.path().toUtf8());
    Bed bed(bed::realSetup());
    qunsetenv("XDG_CACHE_HOME");
    QVERIFY(openSample(bed, "karate/gcn.pt"));
    bed.window->actionBook().find("run.machine")->trigger();
    auto* dialog = bed.window->findChild<panels::MachineDialog*>();
    auto* state = dialog->findChild<QLabel*>("machineState");
    QTRY_VERIFY(state->text().contains("Typical"));
    const auto* rates = dialog->findChild<QTableWidget*>("machineRates");
    QCOMPARE(rates->rowCount(), 9);
    const models::PlanPtr before = bed.window->document().plan();
    dialog->findChild<QPushButton*>("machineMeasure")->click();
    QTRY_VERIFY(state->text().contains("Measured on this machine"));
    QTRY_VERIFY(bed.window->document().plan() != before);
    dialog->findChild<QPushButton*>("machineForget")->click();
    QTRY_VERIFY(state->text().contains("Typical"));
    QVERIFY(checks::clippedTexts(*dialog).isEmpty());
}

namespace {

// The sample's graph with an infinite feature.
QString withInfinity(const QString& graph, const QString& folder)
{
    QFile file(graph);
    if (!file.open(QIODevice::ReadOnly)) return {};
    QByteArray bytes = file.readAll();
    const auto header = static_cast<qsizetype>(qFromLittleEndian<quint64>(bytes.constData()));
    const QJsonObject x = QJsonDocument::fromJson(bytes.mid(8, header)).object().value("x").toObject();
    const float infinite = std::numeric_limits<float>::infinity();
    const auto place = 8 + header + static_cast<qsizetype>(x.value("data_offsets").toArray().first().toDouble());
    std::memcpy(bytes.data() + place, &infinite, sizeof infinite);
    QFile changed(folder + "/infinite.safetensors");
    return changed.open(QIODevice::WriteOnly) && changed.write(bytes) == bytes.size() ? changed.fileName() : QString();
}

QStringList dockTabs(const window::MainWindow& window)
{
    QStringList texts;
    for (const QTabBar* bar : window.findChildren<QTabBar*>("dockTabs"))
        for (int i = 0; i < bar->count(); ++i) texts << bar->tabText(i);
    return texts;
}

}  // namespace

void TestEngine::resultsThatAreNotFiniteAreSaidOnTheTabsToo()
{
    Bed bed(bed::realSetup());
    const QString data = withInfinity(bed::sample("digits/graph.safetensors"), bed.folder.path());
    QVERIFY(!data.isEmpty());
    QVERIFY2(bed.open(bed::sample("digits/sage.pt"), {data}), qPrintable(bed.window->banner().sentence()));
    QTest::keyClick(bed.window.get(), Qt::Key_2, Qt::ControlModifier);
    auto* verify = bed::child<QComboBox>(*bed.window, "verify");
    const auto* headline = bed::child<QLabel>(*bed.window, "verdictHeadline");
    const auto* detail = bed::child<QLabel>(*bed.window, "verdictDetail");
    const auto* tabs = bed::child<QTabWidget>(*bed.window, "runTabs");
    QVERIFY(dockTabs(*bed.window).contains("Run"));
    const auto* start = bed::child<QAction>(*bed.window, "run.start");
    std::size_t runs = 0;
    for (const char* mode : {"none", "full"}) {
        verify->setFocus();
        QTest::keyClicks(verify, mode);
        QTRY_VERIFY(start->isEnabled());  // the window follows the end of a run a moment later
        QTest::keyClick(bed.window.get(), Qt::Key_F9);
        ++runs;  // the macro looks at it again and again
        QTRY_COMPARE(bed.window->document().runs().size(), runs);
        QTRY_VERIFY2(headline->text().contains("results are NaN or infinite"), qPrintable(headline->text()));
        QVERIFY2(detail->text().contains("x holds such numbers from the start"), qPrintable(detail->text()));
        QCOMPARE(tabs->tabText(1), QString("Verdict (1)"));
        QVERIFY(dockTabs(*bed.window).contains("Run (1)"));
    }
    QVERIFY(bed.open(bed::sample("digits/sage.pt"), {bed::sample("digits/graph.safetensors")}));
    QVERIFY(bed.run());
    QTRY_VERIFY2(!headline->text().contains("NaN"), qPrintable(headline->text()));
    QCOMPARE(tabs->tabText(1), QString("Verdict"));
    QVERIFY(dockTabs(*bed.window).contains("Run"));
}

void TestEngine::tabsCountProblemsUntilTheyAreGone()
{
    Bed bed(bed::realSetup());
    QVERIFY(openSample(bed, "digits/jknet.pt"));
    QVERIFY(dockTabs(*bed.window).contains("Problems"));
    const protocol::ModelRecord& model = *bed.window->document().model();
    const auto input = std::ranges::find(model.values, std::string("x"), &protocol::ValueRecord::name);
    QVERIFY(input != model.values.end());
    const protocol::ValueId stored = bed.window->document().plan()->checkpoints.front().value;
    bed.window->workbench().pin({base::PinKind::Checkpoint, model.findValue(input->id)});
    QTRY_VERIFY(!bed.window->document().refusal().isEmpty());
    QTRY_VERIFY2(dockTabs(*bed.window).contains("Problems (1)"), qPrintable(dockTabs(*bed.window).join(", ")));
    bed.window->workbench().pin({base::PinKind::Checkpoint, stored});
    QTRY_VERIFY(bed.window->document().refusal().isEmpty());
    QTRY_VERIFY(dockTabs(*bed.window).contains("Problems"));
}

void TestEngine::whatIsNoModelIsRefusedInWords()
{
    Bed bed(bed::realSetup());
    bed.window->openFile({bed::sample("README.md"), {}, {}});
    QTRY_VERIFY(bed.window->banner().sentence().contains("README.md"));
    QVERIFY(bed.window->document().model() == nullptr);
    const auto* engine = bed::child<QLabel>(*bed.window, "status.engine");
    QTRY_VERIFY2(engine->text().contains("idle"), qPrintable(engine->text()));
}

void TestEngine::aStrangersModelIsDrawnUntilTheUserAgrees_data()
{
    QTest::addColumn<QString>("button");
    QTest::newRow("to the file") << "refusalRun";
    QTest::newRow("to its folder") << "refusalFolder";
}

// A sample with another time in its first record is no sample.
void TestEngine::aStrangersModelIsDrawnUntilTheUserAgrees()
{
    QFETCH(QString, button);
    QTemporaryDir folder;
    QFile sample(bed::sample("karate/gcn.pt"));
    QVERIFY(sample.open(QIODevice::ReadOnly));
    QByteArray content = sample.readAll();
    content[10] = static_cast<char>(content[10] ^ 1);
    const QString model = folder.filePath("stranger.pt");
    QFile file(model);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(content) == content.size());
    file.close();
    const Trusting nothing(folder.path());
    Bed bed(bed::realSetup());
    const models::Document& document = bed.window->document();
    bed.window->openFile({model, {bed::sample("karate/graph.safetensors")}, {}});
    auto* card = child<QWidget>(*bed.window, "refusalCard");
    QTRY_VERIFY(card->isVisible());
    QCOMPARE(child<QLabel>(*bed.window, "refusalTitle")->text(), QStringLiteral("This model has not been run"));
    QVERIFY(!document.model()->ops.empty() && document.model()->fromCode && document.plan() == nullptr);
    auto* agree = child<QPushButton>(*bed.window, button.toLatin1().constData());
    QVERIFY(agree->isVisible());
    QTest::mouseClick(agree, Qt::LeftButton);
    QTRY_VERIFY(document.plan() != nullptr);
    QVERIFY(!card->isVisible() && !document.model()->fromCode);
    QVERIFY2(bed.run(), qPrintable(bed.window->banner().sentence()));
    QCOMPARE(document.runs().front().report->verify->verdict, schema::Verdict::Equal);
}

void TestEngine::aRunThatWasStartedElsewhereIsShown()
{
    Bed bed(bed::realSetup());
    QVERIFY(openSample(bed, "digits/jknet.pt"));
    const auto status = [&] { return bed::child<QLabel>(*bed.window, "runStatus")->accessibleName(); };
    QTest::keyClick(bed.window.get(), Qt::Key_F9);
    QTRY_COMPARE(bed.window->document().runs().size(), std::size_t{1});
    QTest::keyClick(bed.window.get(), Qt::Key_2, Qt::ControlModifier);
    QTRY_COMPARE(bed::child<QProgressBar>(*bed.window, "runProgress")->value(), 1000);
    QTRY_VERIFY2(status().startsWith("Finished after"), qPrintable(status()));
    const double length = bed.window->document().runLog()->elapsed();
    auto* timeline = bed.window->findChild<plots::Timeline*>();
    QTRY_VERIFY2(timeline->range().second < 1.5 * length, qPrintable(QString::number(timeline->range().second)));
}

void TestEngine::aRunWithoutDataOffersToChooseThem()
{
    Bed bed(bed::realSetup());
    QVERIFY2(bed.open(bed::sample("karate/gcn.pt"), {}), qPrintable(bed.window->banner().sentence()));
    QTest::keyClick(bed.window.get(), Qt::Key_F9);
    QTRY_VERIFY2(bed.window->banner().sentence().contains("no data to run on"),
                 qPrintable(bed.window->banner().sentence()));
    QPushButton* choose = nullptr;
    for (QPushButton* button : bed.window->banner().findChildren<QPushButton*>())
        if (button->isVisible() && button->text().startsWith("Choose data")) choose = button;
    QVERIFY(choose);
    QTest::mouseClick(choose, Qt::LeftButton);
    auto* dialog = bed.window->findChild<window::OpenDialog*>();
    QTRY_VERIFY(dialog && dialog->isVisible());
    QCOMPARE(dialog->choice().file, bed::sample("karate/gcn.pt"));
    QTRY_COMPARE(dialog->focusWidget()->objectName(), QString("openAddData"));
    QTest::keyClick(dialog, Qt::Key_Escape);
}

void TestEngine::aFolderIsChosenWhereTheEngineIs()
{
    Bed bed(bed::realSetup());
    QTRY_COMPARE(bed.window->engine().state(), jobs::EngineState::Ready);
    window::RemoteFiles dialog(bed.window->engine(), "Choose a folder", {}, window::Wanted::Folder, bed.window.get());
    dialog.show();
    auto* path = bed::child<QLineEdit>(dialog, "remotePath");
    QTRY_VERIFY(!path->text().isEmpty());
    path->clear();
    QTest::keyClicks(path, QStringLiteral(HOPSCOPE_SAMPLES));
    QTest::keyClick(path, Qt::Key_Return);
    auto* entries = bed::child<QTreeWidget>(dialog, "remoteEntries");
    QTRY_VERIFY(!entries->findItems("karate/", Qt::MatchExactly).isEmpty());
    QVERIFY(entries->findItems("README.md", Qt::MatchExactly).isEmpty());
    entries->setCurrentItem(entries->findItems("karate/", Qt::MatchExactly).first());
    QTest::keyClick(&dialog, Qt::Key_Tab);
    QTest::mouseClick(dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Open), Qt::LeftButton);
    QTRY_VERIFY(!dialog.isVisible());
    QCOMPARE(dialog.chosen(), QStringList{QStringLiteral(HOPSCOPE_SAMPLES "/karate")});
}

HOPSCOPE_QT_SUITE(window_engine, TestEngine)
#include "test_engine.moc"
