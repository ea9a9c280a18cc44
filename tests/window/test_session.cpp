// Session files and the copies that outlive a killed window.

#include <QDir>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "session.h"
#include "session_keeper.h"
#include "settings.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::window;

namespace {

Session example()
{
    Session session;
    session.model = "/models/a b.pt";
    session.data = {"/models/graph.safetensors", "x=/data/x.npy"};
    session.roles = {"x=node:user"};
    session.hashes = {{"model", "abc"}};
    session.settings.strategy = base::Strategy::SourceRule;
    session.settings.pins = {{base::PinKind::Checkpoint, protocol::ValueId(7)},
                             {base::PinKind::NoCheckpoint, protocol::ValueId(9)},
                             {base::PinKind::Cut, protocol::ValueId(7), protocol::ValueId(8)},
                             {base::PinKind::HopStage, protocol::ValueId(8), {}, plan::StageId(2)}};
    session.settings.stages = 3;
    session.settings.memory = qint64{8} << 30;
    session.settings.verify = base::VerifyMode::Full;
    session.breakpoints = {
        {"op4", "relu after convs.0", {}},
        {"op7", "convs.1 output", {.condition = models::BreakOn::OutsideRange, .least = -2, .most = 3}},
        {"op8", "", {.condition = models::BreakOn::Node, .node = 17}},
        {"stage 2", "Stage 2", {.condition = models::BreakOn::NotFinite}}};
    session.view = QByteArray("\x00\xff any bytes", 12);
    session.perspective = "run";
    return session;
}

}  // namespace

class TestSession : public QObject {
    Q_OBJECT
private slots:
    void whatIsWrittenIsReadBack();
    void filesBesideASessionMoveWithIt();
    void brokenSessionsAreRefusedWithTheirPlace_data();
    void brokenSessionsAreRefusedWithTheirPlace();
    void whatIsSavedCanBeOpenedHoweverMuchHasRun();
    void recentFilesAreFewAndDistinct();
    void changesAreNoticedButViewsAreNot();
    void aCopyIsWrittenAndGoesWithAGoodEnd();
    void aWindowThatIsEndedFromOutsideLeavesWhatIsNotSaved();
    void aCopyOfALivingWindowIsNoOrphan();
    void anAbandonedCopyIsFoundOnce();
};

void TestSession::whatIsWrittenIsReadBack()
{
    const auto read = readSession(writeSession(example(), {}), "s.hopscope", {});
    QVERIFY2(read.has_value(), read.has_value() ? "" : read.error().message.c_str());
    QVERIFY(*read == example());
    QVERIFY(*readSession(writeSession(Session{}, {}), "s", {}) == Session{});
}

void TestSession::filesBesideASessionMoveWithIt()
{
    const QByteArray text = writeSession(example(), "/models");
    QVERIFY(text.contains("\"a b.pt\""));
    QVERIFY(text.contains("\"graph.safetensors\""));
    QVERIFY(text.contains("\"x=/data/x.npy\""));
    const auto moved = readSession(text, "s.hopscope", "/elsewhere");
    QCOMPARE(moved->model, QString("/elsewhere/a b.pt"));
    QCOMPARE(moved->data, (QStringList{"/elsewhere/graph.safetensors", "x=/data/x.npy"}));
}

void TestSession::brokenSessionsAreRefusedWithTheirPlace_data()
{
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::addColumn<QString>("words");
    QTest::newRow("not JSON") << QByteArray("{") << QByteArray("[") << "s.hopscope";
    QTest::newRow("format") << QByteArray("hopscope-session") << QByteArray("other") << "format";
    QTest::newRow("version") << QByteArray("\"version\": 1") << QByteArray("\"version\": 2") << "version";
    QTest::newRow("missing") << QByteArray("\"pins\"") << QByteArray("\"pin\"") << "/settings/pins";
    QTest::newRow("breakpoint") << QByteArray("\"place\": \"op4\"") << QByteArray("\"place\": 4")
                                << "/breakpoints/0/place";
    QTest::newRow("pin") << QByteArray("[\"checkpoint\", \"v7\"]") << QByteArray("[\"v7\"]") << "/settings/pins/0";
}

void TestSession::brokenSessionsAreRefusedWithTheirPlace()
{
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QFETCH(QString, words);
    QByteArray text = writeSession(example(), {});
    QVERIFY2(text.contains(from), text.constData());
    text.replace(text.indexOf(from), from.size(), to);
    const auto read = readSession(text, "s.hopscope", {});
    QVERIFY(!read.has_value());
    const QString said = QString::fromStdString(base::describe(read.error()));
    QVERIFY2(said.contains(words), qPrintable(said));
}

void TestSession::whatIsSavedCanBeOpenedHoweverMuchHasRun()
{
    QTemporaryDir folder;
    Session session = example();
    for (const char* title : {"run 1", "run 2", "run 3"})
        session.runs.push_back({QString::fromLatin1(title), u'"' + QString(7 << 20, u'x') + u'"'});
    const QString file = folder.filePath("large.hopscope");
    QVERIFY(saveSession(session, file).has_value());
    const auto read = loadSession(file);
    QVERIFY(read.has_value());
    QCOMPARE(read->runs.size(), std::size_t(2));
    QCOMPARE(read->runs.front().title, QStringLiteral("run 2"));
    session.runs.clear();
    session.view = QByteArray(16 << 20, 'x');
    QVERIFY(!saveSession(session, folder.filePath("more.hopscope")).has_value());
}

void TestSession::recentFilesAreFewAndDistinct()
{
    QVector<RecentFile> recent;
    for (int i = 0; i < 30; ++i) recent = withRecent(recent, {QString::number(i % 20), {}, {}});
    QCOMPARE(recent.size(), recentLimit);
    QCOMPARE(recent.first().file, QString("9"));
    recent = withRecent(recent, {"5", {"new data"}, {}});
    QCOMPARE(recent.size(), recentLimit);
    QCOMPARE(recent.first().data, QStringList{"new data"});
}

void TestSession::changesAreNoticedButViewsAreNot()
{
    std::optional<Session> current = example();
    SessionKeeper keeper([&](bool) { return current; }, {}, nullptr);
    QSignalSpy changed(&keeper, &SessionKeeper::modifiedChanged);
    keeper.begin({});
    current->view = "zoomed";
    current->perspective = "compare";
    keeper.touch();
    QVERIFY(!keeper.modified());
    current->settings.pins.clear();
    keeper.touch();
    QVERIFY(keeper.modified());
    current->breakpoints.clear();  // until there is a file to keep them, they are no reason to ask
    current->settings.pins = example().settings.pins;
    keeper.touch();
    QVERIFY(!keeper.modified());
    QCOMPARE(changed.count(), 2);
}

void TestSession::aCopyIsWrittenAndGoesWithAGoodEnd()
{
    QTemporaryDir folder;
    const QString place = folder.filePath("recovery");
    {
        SessionKeeper keeper([](bool) { return example(); }, place, nullptr);
        keeper.begin("/sessions/s.hopscope");
        QTRY_COMPARE(QDir(place).entryList({"*.hopscope"}).size(), 1);
        const auto copy = loadSession(QDir(place).filePath(QDir(place).entryList({"*.hopscope"}).first()));
        QVERIFY(copy.has_value());
        QCOMPARE(copy->origin, QString("/sessions/s.hopscope"));
        QVERIFY(copy->settings == example().settings);
    }
    QCOMPARE(QDir(place).entryList({"*.hopscope"}).size(), 0);
}

void TestSession::aWindowThatIsEndedFromOutsideLeavesWhatIsNotSaved()
{
    for (const bool changed : {false, true}) {
        QTemporaryDir folder;
        std::optional<Session> current = example();
        {
            SessionKeeper keeper([&](bool) { return current; }, folder.path(), nullptr);
            keeper.begin("/sessions/s.hopscope");
            if (changed) current->settings.pins.clear();
            keeper.touch();
            keeper.leaveCopy();
        }
        const QVector<Orphan> orphans = SessionKeeper::orphans(folder.path());
        QCOMPARE(orphans.size(), changed ? 1 : 0);
        if (changed) QVERIFY(orphans.first().session.settings == current->settings);
    }
}

void TestSession::aCopyOfALivingWindowIsNoOrphan()
{
    QTemporaryDir folder;
    SessionKeeper keeper([](bool) { return example(); }, folder.path(), nullptr);
    keeper.begin({});
    QTRY_COMPARE(QDir(folder.path()).entryList({"*.hopscope"}).size(), 1);
    QCOMPARE(SessionKeeper::orphans(folder.path()).size(), 0);
}

void TestSession::anAbandonedCopyIsFoundOnce()
{
    QTemporaryDir folder;
    QVERIFY(saveSession(example(), folder.filePath("a.hopscope")).has_value());
    QFile broken(folder.filePath("b.hopscope"));
    QVERIFY(broken.open(QIODevice::WriteOnly));
    broken.write("half a fi");
    broken.close();
    const QVector<Orphan> orphans = SessionKeeper::orphans(folder.path());
    QCOMPARE(orphans.size(), 1);
    QVERIFY(orphans.first().session.settings == example().settings);
    QVERIFY(broken.exists());  // it is kept for its owner
    const QStringList aside = SessionKeeper::setAside(folder.path());
    QCOMPARE(aside.size(), 1);
    QVERIFY2(aside.first().contains("b.hopscope.unreadable ("), qPrintable(aside.first()));
    QVERIFY(QFile::exists(folder.filePath("b.hopscope.unreadable")));
    QVERIFY(SessionKeeper::setAside(folder.path()).isEmpty());
    SessionKeeper::discard(orphans.first());
    QCOMPARE(SessionKeeper::orphans(folder.path()).size(), 0);
    QVERIFY(SessionKeeper::orphans({}).isEmpty());
}

HOPSCOPE_QT_SUITE(window_session, TestSession)
#include "test_session.moc"
