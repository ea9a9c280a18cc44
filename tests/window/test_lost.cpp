// The engine, or the process of a model, is killed: the window reports it and keeps the model.

#include <QFile>
#include <QFileInfo>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <csignal>

#include "bed.h"
#include "panels/parts.h"
#include "support/qt_suites.h"

using namespace hopscope;
using bed::Bed;

class TestLost : public QObject {
    Q_OBJECT
private slots:
    void anEngineKilledInMidRunComesBackWithEverything();
    void aModelWhoseProcessIsKilledIsOpenedAgainWithOneClick();

private:
    static bool openDigits(Bed& bed)
    {
        const QString model = bed::sample("digits/gcn.pt");
        return bed.open(model, {QFileInfo(model).path() + "/graph.safetensors"});
    }
};

void TestLost::anEngineKilledInMidRunComesBackWithEverything()
{
    Bed bed(bed::realSetup());
    QVERIFY(openDigits(bed));
    QVERIFY(bed.run());
    const models::ModelPtr model = bed.window->document().model();
    bed.window->workbench().startRun(true);
    QTRY_VERIFY(bed.window->document().runLog()->state() == protocol::RunState::Paused);
    bed.window->workbench().step(protocol::RunStep::Batch);
    QSignalSpy lost(&bed.window->workbench(), &jobs::Workbench::engineLost);
    QSignalSpy back(&bed.window->workbench(), &jobs::Workbench::engineBack);
    QCOMPARE(::kill(static_cast<pid_t>(bed.window->engine().processId()), SIGKILL), 0);
    QTRY_COMPARE(lost.count(), 1);
    QVERIFY(!bed.window->workbench().running());
    bed.window->docks().reveal("run");
    const auto* status = bed::child<panels::ElidedLabel>(*bed.window, "runStatus");
    QTRY_VERIFY2(status->fullText().startsWith("Failed after") &&
                     status->fullText().endsWith(lost.front().front().toString()),
                 qPrintable(status->fullText()));
    QTRY_COMPARE(back.count(), 1);
    QCOMPARE(bed.window->document().model(), model);
    QCOMPARE(bed.window->document().runs().size(), std::size_t{1});
    QVERIFY(bed.run());
    QCOMPARE(bed.window->document().runs().back().report->verify->verdict, schema::Verdict::Equal);
}

namespace {

QByteArray contents(const QString& file)
{
    QFile open(file);
    return open.open(QIODevice::ReadOnly) ? open.readAll() : QByteArray();
}

// Those below the process that have a filter of system calls: the processes of models.
QList<pid_t> processesOfModels(qint64 parent)
{
    QList<pid_t> found;
    const QString folder = QStringLiteral("/proc/%1/").arg(parent);
    for (const QByteArray& child : contents(folder + QStringLiteral("task/%1/children").arg(parent)).split(' ')) {
        if (child.isEmpty()) continue;
        if (contents("/proc/" + child + "/status").contains("Seccomp:\t2")) found.append(child.toInt());
        found += processesOfModels(child.toLongLong());
    }
    return found;
}

}  // namespace

void TestLost::aModelWhoseProcessIsKilledIsOpenedAgainWithOneClick()
{
    Bed bed(bed::realSetup());
    QVERIFY(openDigits(bed));
    bed.window->workbench().startRun(true);
    QTRY_VERIFY(bed.window->document().runLog()->state() == protocol::RunState::Paused);
    const QList<pid_t> killed = processesOfModels(bed.window->engine().processId());
    if (killed.isEmpty()) QSKIP("the engine cannot confine itself here");
    for (const pid_t process : killed) ::kill(process, SIGKILL);
    QTRY_VERIFY2(bed.window->banner().sentence().contains("ended by signal 9"),
                 qPrintable(bed.window->banner().sentence()));
    QVERIFY(!bed.window->workbench().running());
    QPushButton* again = nullptr;
    for (auto* button : bed.window->banner().findChildren<QPushButton*>())
        if (button->text() == "Open Again") again = button;
    QVERIFY(again != nullptr);
    QTest::mouseClick(again, Qt::LeftButton);
    QVERIFY(bed::waitFor([&] { return !bed.window->workbench().busy() && bed.window->document().plan(); }, 30'000));
    QVERIFY2(bed.run(), qPrintable(bed.window->banner().sentence()));
    QCOMPARE(bed.window->document().runs().back().report->verify->verdict, schema::Verdict::Equal);
}

HOPSCOPE_QT_SUITE(window_lost, TestLost)
#include "test_lost.moc"
