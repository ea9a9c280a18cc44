// The window's end of the protocol against an engine that answers, is slow, lies and dies.

#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTest>

#include "player.h"
#include "support/heart_beat.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::jobs;
using player::Answers;
using player::object;

class TestEngineClient : public QObject {
    Q_OBJECT
private slots:
    void requestsMadeBeforeTheHandshakeWaitForIt();
    void answersComeInTheOrderOfTheRequests();
    void aRefusalCarriesTheSentenceAndTheCode();
    void anotherMajorVersionIsRefusedInWords_data();
    void anotherMajorVersionIsRefusedInWords();
    void whateverBreaksTheProtocolEndsTheEngineWithAReason_data();
    void whateverBreaksTheProtocolEndsTheEngineWithAReason();
    void aDyingEngineAnswersEverythingThatIsOpen();
    void aRestartedEngineWorks();
    void anEngineThatDiesAtOnceIsTriedWithGrowingPausesAndThenGivenUp();
    void aProgramThatDoesNotExistFailsWithoutTrying();
    void requestsToAFailedEngineAreAnsweredLater();
    void anAnswerWhoseContextIsGoneIsDropped();
    void anAnswerToNobodyIsPassedOver();
    void aSecondAnswerToOneRequestIsPassedOver();
    void aCancelReachesTheEngineOnlyForRequestsThatItHas();
    void cancellingAWaitingRequestAnswersIt();
    void aBigAnswerDoesNotBlockTheEventLoop();
    void progressIsHandedOut();
    void theEngineEndsWithTheClient();
};

void TestEngineClient::requestsMadeBeforeTheHandshakeWaitForIt()
{
    EngineClient client(player::command());
    Answers answers;
    client.request("test/echo", object("a", 1), &answers.context, answers.keep());
    QCOMPARE(client.state(), EngineState::Stopped);
    client.start();
    QTRY_COMPARE(answers.count(), 1);
    QVERIFY(answers.all[0].has_value());
    QVERIFY(*answers.all[0] == object("a", 1));
    QCOMPARE(client.state(), EngineState::Ready);
    QVERIFY(client.serverInfo().find("threads") != nullptr);
}

void TestEngineClient::answersComeInTheOrderOfTheRequests()
{
    EngineClient client(player::command());
    client.start();
    Answers answers;
    // A big answer first: reading it takes longer than reading those behind it.
    client.request("test/big", object("count", 200'000), &answers.context, answers.keep());
    for (int i = 0; i < 20; ++i) client.request("test/echo", object("i", i), &answers.context, answers.keep());
    QTRY_COMPARE(answers.count(), 21);
    QCOMPARE(answers.all[0]->find("numbers")->size(), std::size_t{200'000});
    for (int i = 0; i < 20; ++i) QVERIFY(*answers.all[static_cast<std::size_t>(i) + 1] == object("i", i));
}

void TestEngineClient::aRefusalCarriesTheSentenceAndTheCode()
{
    EngineClient client(player::command());
    client.start();
    Answers answers;
    client.request("test/refuse", json::Value::object(), &answers.context, answers.keep());
    client.request("no/such", json::Value::object(), &answers.context, answers.keep());
    QTRY_COMPARE(answers.count(), 2);
    QVERIFY(!answers.all[0].has_value());
    QCOMPARE(answers.all[0].error().message, std::string("that cannot be"));
    QCOMPARE(answers.all[0].error().code, base::ErrorCode::Unsupported);
    QVERIFY(!answers.all[1].has_value());
    QCOMPARE(client.state(), EngineState::Ready);
}

void TestEngineClient::anotherMajorVersionIsRefusedInWords_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("words");
    QTest::newRow("newer") << QStringList{"--major", "2"} << "protocol 2";
    QTest::newRow("none") << QStringList{"--no-version"} << "does not report its protocol";
}

void TestEngineClient::anotherMajorVersionIsRefusedInWords()
{
    QFETCH(QStringList, arguments);
    QFETCH(QString, words);
    EngineClient client(player::command(arguments));
    QSignalSpy died(&client, &EngineClient::died);
    Answers answers;
    client.request("test/echo", object("a", 1), &answers.context, answers.keep());
    client.start();
    QTRY_COMPARE(died.count(), 1);
    QVERIFY2(died[0][0].toString().contains(words), qPrintable(died[0][0].toString()));
    QCOMPARE(client.state(), EngineState::Failed);
    QCOMPARE(answers.count(), 1);
    QVERIFY(!answers.all[0].has_value());
}

void TestEngineClient::whateverBreaksTheProtocolEndsTheEngineWithAReason_data()
{
    QTest::addColumn<QString>("method");
    QTest::addColumn<QString>("words");
    QTest::newRow("killed") << "test/die"
                            << "signal 9";
    QTest::newRow("killed within an answer") << "test/die_in_answer"
                                             << "signal 9";
    QTest::newRow("exit") << "test/exit"
                          << "exit code 6";
    QTest::newRow("last output") << "test/exit"
                                 << "no more memory";
    QTest::newRow("garbage") << "test/garbage"
                             << "violated the protocol";
    QTest::newRow("not JSON") << "test/not_json"
                              << "violated the protocol";
    QTest::newRow("too large") << "test/oversize"
                               << "violated the protocol";
}

void TestEngineClient::whateverBreaksTheProtocolEndsTheEngineWithAReason()
{
    QFETCH(QString, method);
    QFETCH(QString, words);
    EngineClient client(player::command());
    QSignalSpy died(&client, &EngineClient::died);
    client.start();
    Answers answers;
    client.request(method, json::Value::object(), &answers.context, answers.keep());
    QTRY_COMPARE(died.count(), 1);
    QVERIFY2(died[0][0].toString().contains(words), qPrintable(died[0][0].toString()));
    QCOMPARE(client.state(), EngineState::Stopped);
    // The player answers its garbage, too, but nothing behind the garbage is believed.
    QCOMPARE(answers.count(), 1);
    QVERIFY(!answers.all[0].has_value());
    QCOMPARE(answers.all[0].error().code, base::ErrorCode::Internal);
}

void TestEngineClient::aDyingEngineAnswersEverythingThatIsOpen()
{
    EngineClient client(player::command());
    client.start();
    QTRY_COMPARE(client.state(), EngineState::Ready);
    Answers answers;
    client.request("test/echo", object("a", 1), &answers.context, answers.keep());
    client.request("test/die", json::Value::object(), &answers.context, answers.keep());
    for (int i = 0; i < 5; ++i) client.request("test/echo", object("i", i), &answers.context, answers.keep());
    QTRY_COMPARE(answers.count(), 7);
    QVERIFY(answers.all[0].has_value());
    for (int i = 1; i < 7; ++i) QVERIFY(!answers.all[static_cast<std::size_t>(i)].has_value());
}

void TestEngineClient::aRestartedEngineWorks()
{
    EngineClient client(player::command());
    QSignalSpy died(&client, &EngineClient::died);
    client.start();
    QTRY_COMPARE(client.state(), EngineState::Ready);
    const qint64 first = client.processId();
    Answers answers;
    client.request("test/die", json::Value::object(), &answers.context, answers.keep());
    QTRY_COMPARE(died.count(), 1);
    client.restart();
    client.request("test/echo", object("again", true), &answers.context, answers.keep());
    QTRY_COMPARE(answers.count(), 2);
    QVERIFY(answers.all[1].has_value());
    QVERIFY(client.processId() != first);
}

void TestEngineClient::anEngineThatDiesAtOnceIsTriedWithGrowingPausesAndThenGivenUp()
{
    EngineClient client(player::command({"--die-at-start"}));
    QElapsedTimer clock;
    QVector<qint64> pauses;  // from a death to the next start
    connect(&client, &EngineClient::died, this, [&] {
        clock.start();
        if (client.state() != EngineState::Failed) client.restart();
    });
    connect(&client, &EngineClient::stateChanged, this, [&](EngineState state) {
        if (state == EngineState::Starting && clock.isValid()) pauses.append(clock.elapsed());
    });
    client.start();
    QTRY_COMPARE(client.state(), EngineState::Failed);
    QVERIFY(pauses.size() >= 3 && pauses.size() <= 9);
    for (int i = 0; i < pauses.size(); ++i) QCOMPARE_GE(pauses[i], 180 << i);  // 200 ms; timers may be a little early
}

void TestEngineClient::aProgramThatDoesNotExistFailsWithoutTrying()
{
    EngineClient client({"/nowhere/hopscope-engine", "serve"});
    QSignalSpy died(&client, &EngineClient::died);
    client.start();
    QTRY_COMPARE(died.count(), 1);
    QCOMPARE(client.state(), EngineState::Failed);
    QVERIFY(died[0][0].toString().contains("could not be started"));
}

void TestEngineClient::requestsToAFailedEngineAreAnsweredLater()
{
    EngineClient client({"/nowhere/hopscope-engine", "serve"});
    client.start();
    QTRY_COMPARE(client.state(), EngineState::Failed);
    Answers answers;
    client.request("test/echo", json::Value::object(), &answers.context, answers.keep());
    QCOMPARE(answers.count(), 0);
    QTRY_COMPARE(answers.count(), 1);
    QVERIFY(!answers.all[0].has_value());
}

void TestEngineClient::anAnswerWhoseContextIsGoneIsDropped()
{
    EngineClient client(player::command());
    client.start();
    Answers answers;
    auto* gone = new QObject;
    client.request("test/echo", object("a", 1), gone, answers.keep());
    client.request("test/echo", object("a", 2), &answers.context, answers.keep());
    delete gone;
    QTRY_COMPARE(answers.count(), 1);
    QVERIFY(*answers.all[0] == object("a", 2));
}

void TestEngineClient::anAnswerToNobodyIsPassedOver()
{
    EngineClient client(player::command());
    client.start();
    Answers answers;
    client.request("test/strange_id", json::Value::object(), &answers.context, answers.keep());
    QTRY_COMPARE(answers.count(), 1);
    QVERIFY(*answers.all[0] == json::Value("for me"));
}

void TestEngineClient::aSecondAnswerToOneRequestIsPassedOver()
{
    EngineClient client(player::command());
    client.start();
    Answers answers;
    client.request("test/twice", json::Value::object(), &answers.context, answers.keep());
    client.request("test/echo", object("a", 1), &answers.context, answers.keep());
    QTRY_COMPARE(answers.count(), 2);
    QVERIFY(*answers.all[0] == json::Value(1));
}

void TestEngineClient::aCancelReachesTheEngineOnlyForRequestsThatItHas()
{
    EngineClient client(player::command());
    client.start();
    QTRY_COMPARE(client.state(), EngineState::Ready);
    QSignalSpy notified(&client, &EngineClient::notified);
    Answers answers;
    const auto id = client.request("test/slow", object("a", 1), &answers.context, answers.keep());
    client.cancel(id);
    client.cancel(id + 1000);
    QTRY_COMPARE(answers.count(), 1);
    QTRY_COMPARE(notified.count(), 1);
    const auto params = notified[0][1].value<json::Value>();
    QCOMPARE(*params.find("message")->asString(), "cancel " + std::to_string(id));
}

void TestEngineClient::cancellingAWaitingRequestAnswersIt()
{
    EngineClient client(player::command());
    Answers answers;
    client.cancel(client.request("test/echo", json::Value::object(), &answers.context, answers.keep()));
    QTRY_COMPARE(answers.count(), 1);
    QCOMPARE(answers.all[0].error().code, base::ErrorCode::Cancelled);
}

// A beat of 4 ms goes on while some 8 MB of numbers are read.
void TestEngineClient::aBigAnswerDoesNotBlockTheEventLoop()
{
    EngineClient client(player::command());
    client.start();
    QTRY_COMPARE(client.state(), EngineState::Ready);
    Answers answers;
    watch::HeartBeat heart;
    client.request("test/big", object("count", 1'000'000), &answers.context, answers.keep());
    QTRY_COMPARE(answers.count(), 1);
    QVERIFY(answers.all[0].has_value());
    double work = 0, longest = 0;  // of this thread, whatever others do
    for (const watch::Span& stall : heart.take()) {
        work += stall.work;
        longest = std::max(longest, stall.work);
    }
    QVERIFY2(longest < 10 + work / 3, qPrintable(QString("%1 of %2 ms at once").arg(longest).arg(work)));
}

void TestEngineClient::progressIsHandedOut()
{
    EngineClient client(player::command());
    QSignalSpy progressed(&client, &EngineClient::progressed);
    client.start();
    Answers answers;
    json::Value params = object("model", "slow3.pt");
    const auto id = client.request("model/open", std::move(params), &answers.context, answers.keep());
    QTRY_COMPARE(answers.count(), 1);
    QCOMPARE(progressed.count(), 4);
    QCOMPARE(progressed[2][0].value<std::int64_t>(), id);
    QCOMPARE(progressed[2][1].toString(), QString("reading"));
    QCOMPARE(progressed[2][2].value<std::int64_t>(), 2);
}

void TestEngineClient::theEngineEndsWithTheClient()
{
    qint64 process = 0;
    {
        EngineClient client(player::command());
        client.start();
        QTRY_COMPARE(client.state(), EngineState::Ready);
        process = client.processId();
        QVERIFY(QFile::exists(QString("/proc/%1/stat").arg(process)));
    }
    QTRY_VERIFY(!QFile::exists(QString("/proc/%1/stat").arg(process)));
}

HOPSCOPE_QT_SUITE(engine_client, TestEngineClient)
#include "test_engine_client.moc"
