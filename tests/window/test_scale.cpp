// The window with `hopscope-scale serve` and two workers of this machine: its runs give the bits of one process, whoever is killed.

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>

#include "bed.h"
#include "command_line.h"
#include "models/run_log.h"
#include "panels/worker_part.h"
#include "support/qt_suites.h"

using namespace hopscope;
using bed::Bed;

namespace {

// As a user would write it behind --engine.
QString engineText(const QString& more)
{
    return QStringLiteral("'" HOPSCOPE_SCALE_PYTHON "' -B -m hopscope.scale serve --address local %1").arg(more);
}

window::WindowSetup scaleSetup(const QString& more = QStringLiteral("--workers 2 --threads 1"))
{
    window::WindowSetup setup = bed::playedSetup();
    setup.engine = engineText(more);
    setup.engineCommand = window::splitCommand(setup.engine);
    setup.settings.perspective = QStringLiteral("run");
    return setup;
}

QString read(const QString& name)
{
    QFile file(name);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

// The workers below a process, by their command lines.
QList<pid_t> workersOf(qint64 process)
{
    QList<pid_t> found;
    for (const QString& thread :
         QDir(QStringLiteral("/proc/%1/task").arg(process)).entryList(QDir::AllDirs | QDir::NoDotAndDotDot))
        for (const QString& child :
             read(QStringLiteral("/proc/%1/task/%2/children").arg(process).arg(thread)).split(u' ', Qt::SkipEmptyParts))
            if (read(QStringLiteral("/proc/%1/cmdline").arg(child)).split(QChar(0)).value(1) == u"worker")
                found.append(child.toInt());
    return found;
}

QByteArray digest(const QString& name)
{
    QFile file(name);
    if (!file.open(QIODevice::ReadOnly)) return {};
    QCryptographicHash hash(QCryptographicHash::Sha256);
    hash.addData(&file);
    return hash.result();
}

QString said(Bed& bed, const char* label) { return bed::child<QLabel>(*bed.window, label)->accessibleName(); }

}  // namespace

class TestScale : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void aRunHasTwoLanesAndTheBitsOfOneProcess();
    void aKilledWorkerEndsItsLaneAndAnotherJoins();
    void aStoppedRunGoesOnInItsFolder();
    void theWindowTakesItsWorkersWithIt();
    void aCommandThatCannotStartIsSaid();
    void theProgramTakesTheWholeCommand();

private:
    // A run begins in small batches, with results in a folder of its own.
    static void begin(Bed& bed, const QTemporaryDir& out)
    {
        QVERIFY2(bed.open(QStringLiteral(HOPSCOPE_SCALE_MODELS "/sage.pt"),
                          {QStringLiteral(HOPSCOPE_SCALE_MODELS "/graph.safetensors")}),
                 qPrintable(bed.window->banner().sentence()));
        models::Settings settings = bed.window->document().settings();
        settings.batch = 8;
        settings.output = out.filePath(QStringLiteral("out"));
        settings.verify = base::VerifyMode::Sample;
        bed.window->workbench().setRunSettings(settings);
        QTRY_VERIFY(!bed.window->workbench().busy());
        bed.window->workbench().startRun();
    }
    static const models::WorkerLog* workers(Bed& bed) { return bed.window->document().runLog()->workers(); }
    static bool bothCompute(Bed& bed)
    {
        const models::WorkerLog* log = workers(bed);
        return log != nullptr && log->lanes().size() == 2 && log->lanes()[0].count > 0 && log->lanes()[1].count > 0;
    }
    static bool ended(Bed& bed)
    {
        return bed::waitFor([&] { return !bed.window->workbench().running(); }, 120'000);
    }
    // What a run of one process by the same plan writes.
    static QByteArray ofOneProcess(Bed& bed, const QTemporaryDir& out)
    {
        const QString plan = out.filePath(QStringLiteral("plan.json")), folder = out.filePath(QStringLiteral("alone"));
        QFile file(plan);
        if (!file.open(QIODevice::WriteOnly)) return {};
        file.write(QByteArray::fromStdString(json::write(bed.window->document().plan()->document)));
        file.close();
        const int code = QProcess::execute(
            QStringLiteral(HOPSCOPE_PROGRAMS "/hopscope-engine"),
            {"run", HOPSCOPE_SCALE_MODELS "/sage.pt", "--data", HOPSCOPE_SCALE_MODELS "/graph.safetensors", "--plan",
             plan, "-o", folder, "--resume", "--threads", "1", "--batch", "8", "--verify", "none", "--quiet"});
        return code == 0 ? digest(folder + QStringLiteral("/out.npy")) : QByteArray();
    }
};

void TestScale::initTestCase()
{
    qputenv("PYTHONPATH", HOPSCOPE_SCALE_PACKAGE);
    qputenv("HOPSCOPE_ENGINE", HOPSCOPE_PROGRAMS "/hopscope-engine");
}

void TestScale::aRunHasTwoLanesAndTheBitsOfOneProcess()
{
    const QTemporaryDir out;
    Bed bed(scaleSetup());
    begin(bed, out);
    QTRY_VERIFY(bothCompute(bed));
    QTRY_VERIFY(bed.window->findChild<panels::WorkerPart*>()->isVisible());
    QVERIFY(ended(bed));
    QCOMPARE(bed.window->document().runs().size(), std::size_t{1});
    QCOMPARE(bed.window->document().runs().front().report->verify->verdict, schema::Verdict::Equal);
    QCOMPARE(workers(bed)->barriers().size(), std::size_t{3});
    const QByteArray expected = ofOneProcess(bed, out);
    QVERIFY(!expected.isEmpty());
    QCOMPARE(digest(out.filePath("out/out.npy")), expected);
    QTRY_VERIFY2(said(bed, "workersSummary").startsWith("2 workers · slowest: worker "),
                 qPrintable(said(bed, "workersSummary")));
}

void TestScale::aKilledWorkerEndsItsLaneAndAnotherJoins()
{
    const QTemporaryDir out;
    Bed bed(scaleSetup());
    begin(bed, out);
    QTRY_VERIFY(bothCompute(bed));
    const QList<pid_t> processes = workersOf(bed.window->engine().processId());
    QCOMPARE(processes.size(), 2);
    QCOMPARE(::kill(processes.first(), SIGKILL), 0);
    QTRY_COMPARE(workers(bed)->lost(), 1);
    QVERIFY(ended(bed));
    const auto lost =
        std::ranges::find_if(workers(bed)->lanes(), [](const auto& lane) { return lane.lives.size() > 1; });
    QVERIFY(lost != workers(bed)->lanes().end());
    QVERIFY(lost->lives.front().to && lost->lives.front().reason.contains("killed"));
    QVERIFY(lost->lives.back().joined.has_value());
    QCOMPARE(bed.window->document().runs().front().report->verify->verdict, schema::Verdict::Equal);
    QCOMPARE(digest(out.filePath("out/out.npy")), ofOneProcess(bed, out));
    QTRY_VERIFY(said(bed, "workersSummary").contains("1 lost"));
}

void TestScale::aStoppedRunGoesOnInItsFolder()
{
    const QTemporaryDir out;
    Bed bed(scaleSetup());
    begin(bed, out);
    QTRY_VERIFY(bothCompute(bed));
    bed.window->workbench().stopRun();
    QTRY_VERIFY(!bed.window->workbench().running());
    QTRY_VERIFY2(said(bed, "runStatus").contains("resumes the run"), qPrintable(said(bed, "runStatus")));
    QVERIFY(bed.window->document().runs().empty());
    QVERIFY(workersOf(bed.window->engine().processId()).isEmpty());
    bed.window->workbench().startRun();
    QVERIFY(ended(bed));
    QCOMPARE(bed.window->document().runs().size(), std::size_t{1});
    QCOMPARE(digest(out.filePath("out/out.npy")), ofOneProcess(bed, out));
}

void TestScale::theWindowTakesItsWorkersWithIt()
{
    const QTemporaryDir out;
    QList<pid_t> processes;
    {
        Bed bed(scaleSetup());
        begin(bed, out);
        QTRY_VERIFY(bothCompute(bed));
        processes = workersOf(bed.window->engine().processId());
        processes.append(static_cast<pid_t>(bed.window->engine().processId()));
    }
    QCOMPARE(processes.size(), 3);
    for (const pid_t process : processes) QTRY_VERIFY(!QFile::exists(QStringLiteral("/proc/%1/exe").arg(process)));
}

void TestScale::aCommandThatCannotStartIsSaid()
{
    Bed wrong(scaleSetup(QStringLiteral("--threads 1")));
    QTRY_COMPARE(wrong.window->engine().state(), jobs::EngineState::Failed);
    QTRY_VERIFY2(wrong.window->banner().sentence().contains("the address 'local' needs a number of workers"),
                 qPrintable(wrong.window->banner().sentence()));
    window::WindowSetup setup = scaleSetup();
    setup.engineCommand = {QStringLiteral("/nowhere/hopscope-scale"), QStringLiteral("serve")};
    Bed missing(setup);
    QTRY_VERIFY2(missing.window->banner().sentence().contains("could not be started"),
                 qPrintable(missing.window->banner().sentence()));
}

void TestScale::theProgramTakesTheWholeCommand()
{
    const QTemporaryDir out;
    QProcess program;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const char* name : {"XDG_DATA_HOME", "XDG_CONFIG_HOME", "TMPDIR"}) environment.insert(name, out.path());
    program.setProcessEnvironment(environment);
    const QString table = out.filePath("stages.csv");
    program.start(QStringLiteral(HOPSCOPE_PROGRAMS "/hopscope"),
                  {bed::sample("digits/jknet.pt"), "--data", bed::sample("digits/graph.safetensors"), "--engine",
                   engineText("--workers 2 --threads 1"), "--run", "--export", table});
    QVERIFY(program.waitForFinished(60'000));
    QVERIFY2(program.exitCode() == 0, program.readAllStandardError().constData());
    QCOMPARE(read(table).split('\n', Qt::SkipEmptyParts).size(), 4);
    QCOMPARE(QDir(out.path()).entryList({"hopscope-*"}, QDir::Dirs), QStringList());  // nothing is left
}

HOPSCOPE_QT_SUITE(window_scale, TestScale)
#include "test_scale.moc"
