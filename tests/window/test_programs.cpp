// The program itself, started as a user would: without a display, killed, recovered, and through other engines.

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QImage>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>
#include <netinet/in.h>
#include <random>
#include <sys/socket.h>
#include <unistd.h>

#include "bed.h"
#include "jobs/player.h"
#include "session.h"
#include "support/qt_suites.h"

using namespace hopscope;

namespace {

QString quoted(const QStringList& command)
{
    QStringList words;
    for (const QString& word : command) words.append(u'"' + word + u'"');
    return words.join(u' ');
}

QString read(const QString& name);

struct Program {
    QTemporaryDir home;
    QProcess process;

    explicit Program(const QStringList& arguments, const QString& engine = quoted(player::command()))
    {
        start(arguments, engine);
    }

    void start(const QStringList& arguments, const QString& engine)
    {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("XDG_DATA_HOME", home.filePath("data"));
        environment.insert("XDG_CONFIG_HOME", home.filePath("config"));
        environment.insert("QT_QPA_PLATFORM", "offscreen");
        process.setProcessEnvironment(environment);
        process.start(QStringLiteral(HOPSCOPE_PROGRAMS "/hopscope"), arguments + QStringList{"--engine", engine});
    }

    int wait() { return process.waitForFinished(120'000) ? process.exitCode() : -1; }

    void kill()
    {
        process.kill();
        process.waitForFinished(60'000);
    }

    // The processes that it has started.
    [[nodiscard]] QStringList children() const
    {
        return read(QString("/proc/%1/task/%1/children").arg(process.processId())).split(' ', Qt::SkipEmptyParts);
    }

    [[nodiscard]] QStringList copies() const
    {
        const QDir folder(home.filePath("data/hopscope/hopscope/recovery"));
        QStringList files;
        for (const QString& name : folder.entryList({"*.hopscope"})) files.append(folder.filePath(name));
        return files;
    }
};

// A port that was free a moment ago.
int freePort()
{
    const int handle = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(handle, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(handle, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(handle);
    return ntohs(address.sin_port);
}

// An ssh server of this test alone: own keys, own port, this machine only. Where none is installed, a script that passes
// the command on as ssh does.
struct SshServer {
    QTemporaryDir folder;
    QProcess process;
    QString ssh = "ssh";
    int port = freePort();

    // Empty, or why there is none.
    QString start()
    {
        const QString program = QStandardPaths::findExecutable("sshd", {"/usr/sbin", "/usr/local/sbin"});
        if (program.isEmpty() || QStandardPaths::findExecutable("ssh-keygen").isEmpty()) {
            ssh = SSH_STAND_IN;
            return {};
        }
        for (const char* key : {"host", "user"})
            QProcess::execute("ssh-keygen", {"-q", "-t", "ed25519", "-N", "", "-f", folder.filePath(key)});
        if (::geteuid() == 0) QDir().mkpath("/run/sshd");  // as its service would
        QFile config(folder.filePath("config"));
        if (!config.open(QIODevice::WriteOnly)) return "no configuration";
        config.write(QString("Port %1\nListenAddress 127.0.0.1\nHostKey %2\nAuthorizedKeysFile %3\nStrictModes no\n"
                             "UsePAM no\nPidFile none\nPermitRootLogin yes\n")
                         .arg(port)
                         .arg(folder.filePath("host"), folder.filePath("user.pub"))
                         .toUtf8());
        config.close();
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.start(program, {"-D", "-e", "-f", config.fileName()});
        QByteArray said;
        const bool listens = bed::waitFor([&] {
            said += process.readAll();
            return said.contains("Server listening") || process.state() == QProcess::NotRunning;
        });
        return listens && said.contains("Server listening") ? QString()
                                                            : "sshd does not start: " + QString::fromUtf8(said);
    }

    [[nodiscard]] QString command(const QStringList& remote) const
    {
        const QStringList words{ssh,        "-q",
                                "-p",       QString::number(port),
                                "-i",       folder.filePath("user"),
                                "-o",       "BatchMode=yes",
                                "-o",       "StrictHostKeyChecking=no",
                                "-o",       "UserKnownHostsFile=/dev/null",
                                "127.0.0.1"};
        return quoted(words + remote);
    }

    ~SshServer()
    {
        process.terminate();
        process.waitForFinished(3000);
    }
};

QString read(const QString& name)
{
    QFile file(name);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

}  // namespace

class TestPrograms : public QObject {
    Q_OBJECT
private slots:
    void aWrongCommandLineExitsWithTwo();
    void helpAndVersionAreSaid();
    void picturesAndTablesAreWrittenWithoutADisplay();
    void fontsThatComeAlongAreAddedToThoseOfTheSystem();
    void aModelThatCannotBeOpenedExitsWithThree();
    void aModelWithoutAPlanIsNotRun();
    void whatLeadsNowhereEndsInSecondsAndInWords_data();
    void whatLeadsNowhereEndsInSecondsAndInWords();
    void anEngineThatDoesNotExistIsSaid();
    void anEngineBehindAPipeWorksTheSame();
    void anEngineBehindSshWorksTheSame();
    void aWindowThatIsToldToEndEndsAndItIsNoCrash();
    void aKilledWindowIsRecoveredAndItsEngineEnds();
    void aWindowThatIsKilledAtAnyMomentLeavesACopyThatCanBeReadOrNone();

private:
    static QString savedSession(const QTemporaryDir& folder);
    static void checkRecovered(Program& program, const QTemporaryDir& folder);
};

void TestPrograms::aWrongCommandLineExitsWithTwo()
{
    Program program({"--theme", "pink"});
    QCOMPARE(program.wait(), 2);
    QVERIFY(program.process.readAllStandardError().contains("pink"));
}

void TestPrograms::helpAndVersionAreSaid()
{
    Program help({"--help"}), version({"--version"});
    QCOMPARE(help.wait(), 0);
    QVERIFY(help.process.readAllStandardOutput().contains("--screenshot"));
    QCOMPARE(version.wait(), 0);
    QVERIFY(version.process.readAllStandardOutput().startsWith("hopscope "));
}

void TestPrograms::picturesAndTablesAreWrittenWithoutADisplay()
{
    QTemporaryDir out;
    Program program({"chain3.pt", "--data", "graph.safetensors", "--run", "--screenshot", out.filePath("w.png"),
                     "--size", "1300x800", "--export", out.filePath("graph.svg"), "--export",
                     out.filePath("stages.csv"), "--export", out.filePath("t.json"), "--export",
                     "graph=" + out.filePath("big.png"), "--width", "3000"});
    QCOMPARE(program.wait(), 0);
    QCOMPARE(QImage(out.filePath("w.png")).size(), QSize(1300, 800));
    QCOMPARE(QImage(out.filePath("big.png")).width(), 3000);
    QVERIFY(read(out.filePath("graph.svg")).contains("<svg"));
    QCOMPARE(read(out.filePath("stages.csv")).split('\n', Qt::SkipEmptyParts).size(), 4);
    QVERIFY(read(out.filePath("t.json")).contains("compute"));
    QVERIFY(program.copies().isEmpty());
}

// An unpacked archive and an installed wheel have the same folders, and the same file for Fontconfig.
void TestPrograms::fontsThatComeAlongAreAddedToThoseOfTheSystem()
{
    const QTemporaryDir folder;
    const QDir tree(folder.path());
    QVERIFY(tree.mkpath("bin") && tree.mkpath("share/hopscope/fonts"));
    QVERIFY(QFile::copy(QStringLiteral(HOPSCOPE_PROGRAMS "/hopscope"), tree.filePath("bin/hopscope")));
    const QString file = tree.filePath("share/hopscope/fonts/fonts.conf");
    QVERIFY(QFile::copy(QStringLiteral(PORTABLE_FONTS), file));
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("QT_QPA_PLATFORM", "offscreen");
    environment.insert("XDG_CACHE_HOME", tree.filePath("cache"));
    environment.insert("FC_DEBUG", "1024");  // names the files that configure Fontconfig
    environment.remove("FONTCONFIG_FILE");
    QProcess process;
    process.setProcessEnvironment(environment);
    process.start(tree.filePath("bin/hopscope"), {"--screenshot", tree.filePath("page.png")});
    QVERIFY(process.waitForFinished(40'000));
    const QString said = process.readAllStandardOutput();
    QVERIFY2(said.contains(file), qPrintable(said));
    if (QFile::exists("/etc/fonts/fonts.conf")) QVERIFY2(said.contains("/etc/fonts/fonts.conf"), qPrintable(said));
}

void TestPrograms::aModelThatCannotBeOpenedExitsWithThree()
{
    QTemporaryDir out;
    Program program({"bad.pt", "--screenshot", out.filePath("w.png")});
    QCOMPARE(program.wait(), 3);
    QVERIFY(program.process.readAllStandardError().contains("not a TorchScript archive"));
    QVERIFY(!QFile::exists(out.filePath("w.png")));
}

// It can be shown, and nothing else.
void TestPrograms::aModelWithoutAPlanIsNotRun()
{
    QTemporaryDir out;
    Program program(
        {"unsplittable3.pt", "--data", "graph.safetensors", "--run", "--screenshot", out.filePath("w.png")});
    QCOMPARE(program.wait(), 4);
    const QString said = QString::fromUtf8(program.process.readAllStandardError());
    QVERIFY2(said.contains("works over the rows of node in sequence"), qPrintable(said));
    QVERIFY(!QFile::exists(out.filePath("w.png")));
    program.start({"unsplittable3.pt", "--data", "graph.safetensors", "--screenshot", out.filePath("w.png")},
                  quoted(player::command()));
    QCOMPARE(program.wait(), 0);
    QVERIFY(QFile::exists(out.filePath("w.png")));
}

void TestPrograms::whatLeadsNowhereEndsInSecondsAndInWords_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("words");
    QTest::newRow("no session") << QStringList{"/nowhere/s.hopscope"} << "No such file";
    QTest::newRow("a session that is none") << QStringList{"SESSION"} << "s.hopscope";
    QTest::newRow("a session of nothing") << QStringList{"LOST"} << "bad.pt";
    QTest::newRow("a refused plan") << QStringList{"REFUSED", "--run"} << "rules do not support this pin";
    QTest::newRow("no plan") << QStringList{"chain3.pt", "--plan", "/nowhere/plan.json"} << "plan.json";
    QTest::newRow("nothing to recover") << QStringList{"--recover"} << "nothing to recover";
}

void TestPrograms::whatLeadsNowhereEndsInSecondsAndInWords()
{
    QFETCH(QStringList, arguments);
    QFETCH(QString, words);
    QTemporaryDir out;
    QFile broken(out.filePath("s.hopscope"));
    QVERIFY(broken.open(QIODevice::WriteOnly) && broken.write("half a fi") > 0);
    broken.close();
    window::Session lost;
    lost.model = "bad.pt";
    QVERIFY(window::saveSession(lost, out.filePath("lost.hopscope")).has_value());
    lost.model = "chain3.pt";
    lost.data = QStringList{"graph.safetensors"};
    lost.settings.strategy = base::Strategy::SourceRule;
    lost.settings.pins = {{base::PinKind::NoRecompute, protocol::ValueId(8)}};
    QVERIFY(window::saveSession(lost, out.filePath("refused.hopscope")).has_value());
    arguments.replaceInStrings("SESSION", broken.fileName());
    arguments.replaceInStrings("REFUSED", out.filePath("refused.hopscope"));
    arguments.replaceInStrings("LOST", out.filePath("lost.hopscope"));
    Program program(arguments + QStringList{"--screenshot", out.filePath("w.png")});
    QCOMPARE(program.wait(), 3);
    const QString said = QString::fromUtf8(program.process.readAllStandardError());
    QVERIFY2(said.contains(words), qPrintable(said));
    QVERIFY(!QFile::exists(out.filePath("w.png")));
}

void TestPrograms::anEngineThatDoesNotExistIsSaid()
{
    QTemporaryDir out;
    Program program({"chain3.pt", "--screenshot", out.filePath("w.png")}, "/nowhere/hopscope-engine serve");
    QCOMPARE(program.wait(), 7);
    QVERIFY(program.process.readAllStandardError().contains("could not be started"));
}

void TestPrograms::anEngineBehindAPipeWorksTheSame()
{
    QTemporaryDir out;
    Program program({"chain3.pt", "--data", "graph.safetensors", "--export", out.filePath("ops.csv")},
                    "sh -c \"cat | '" + player::command().join("' '") + "' | cat\"");
    QCOMPARE(program.wait(), 0);
    QVERIFY(read(out.filePath("ops.csv")).contains("linear"));
}

void TestPrograms::anEngineBehindSshWorksTheSame()
{
    SshServer server;
    const QString problem = server.start();
    QVERIFY2(problem.isEmpty(), qPrintable(problem));
    QTemporaryDir out;
    Program program({"chain3.pt", "--data", "graph.safetensors", "--run", "--export", out.filePath("stages.csv")},
                    server.command(player::command()));
    const int code = program.wait();
    QVERIFY2(code == 0, program.process.readAllStandardError().constData());
    QCOMPARE(read(out.filePath("stages.csv")).split('\n', Qt::SkipEmptyParts).size(), 4);
}

QString TestPrograms::savedSession(const QTemporaryDir& folder)
{
    window::Session session;
    session.model = "chain3.pt";
    session.data = QStringList{"graph.safetensors"};
    session.settings.pins = {{base::PinKind::Checkpoint, protocol::ValueId(8)}};
    session.perspective = "analyse";
    const QString file = folder.filePath("s.hopscope");
    return window::saveSession(session, file) ? file : QString();
}

// Recovers the copy of a killed window, and reads its table of checkpoints.
void TestPrograms::checkRecovered(Program& program, const QTemporaryDir& folder)
{
    const QString table = folder.filePath("checkpoints.csv");
    program.start({"--recover", "--export", table}, quoted(player::command()));
    QCOMPARE(program.wait(), 0);
    // The head, the pinned value, both results and the output.
    QCOMPARE(read(table).split('\n', Qt::SkipEmptyParts).size(), 5);
    QCOMPARE(program.copies().size(), 0);
}

void TestPrograms::aWindowThatIsToldToEndEndsAndItIsNoCrash()
{
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
        QTemporaryDir folder;
        Program program({savedSession(folder)});
        QTRY_VERIFY(program.copies().size() == 1);
        const QStringList engines = program.children();
        QVERIFY(!engines.isEmpty());
        QCOMPARE(::kill(static_cast<pid_t>(program.process.processId()), signal), 0);
        QCOMPARE(program.wait(), 128 + signal);
        QCOMPARE(program.process.exitStatus(), QProcess::NormalExit);
        for (const QString& engine : engines) QTRY_VERIFY(!QFile::exists("/proc/" + engine + "/exe"));
        QCOMPARE(program.copies().size(), 0);
    }
}

void TestPrograms::aKilledWindowIsRecoveredAndItsEngineEnds()
{
    QTemporaryDir folder;
    Program program({savedSession(folder)});
    QTRY_VERIFY(program.copies().size() == 1 && read(program.copies().first()).contains("v8"));
    const QStringList engines = program.children();
    QVERIFY(!engines.isEmpty());
    program.kill();
    for (const QString& engine : engines) QTRY_VERIFY(!QFile::exists("/proc/" + engine + "/exe"));
    QCOMPARE(program.copies().size(), 1);
    checkRecovered(program, folder);
}

// HOPSCOPE_TIER=full: sixty moments.
void TestPrograms::aWindowThatIsKilledAtAnyMomentLeavesACopyThatCanBeReadOrNone()
{
    const bool full = qEnvironmentVariable("HOPSCOPE_TIER") == QLatin1String("full");
    const int kills = full ? 60 : 2;
    std::minstd_rand dice(20261128);
    QTemporaryDir folder;
    QElapsedTimer timer;
    timer.start();
    {
        Program whole({savedSession(folder)});
        QTRY_VERIFY(whole.copies().size() == 1 && read(whole.copies().first()).contains("v8"));
        whole.kill();
    }
    std::uniform_int_distribution<qint64> moments(0, timer.elapsed() * 5 / 4);
    int copies = 0;
    for (int i = 0; i < kills; ++i) {
        Program program({savedSession(folder)});
        const qint64 moment = moments(dice);
        QTest::qWait(static_cast<int>(moment));
        const QStringList engines = program.children();
        program.kill();
        qInfo("kill %d after %lld ms: %lld copies", i, moment, static_cast<long long>(program.copies().size()));
        for (const QString& engine : engines) QTRY_VERIFY(!QFile::exists("/proc/" + engine + "/exe"));
        QVERIFY(program.copies().size() <= 1);
        if (program.copies().isEmpty()) continue;
        ++copies;
        checkRecovered(program, folder);
    }
    QVERIFY(copies > 0 || !full);
}

HOPSCOPE_QT_SUITE(window_programs, TestPrograms)
#include "test_programs.moc"
