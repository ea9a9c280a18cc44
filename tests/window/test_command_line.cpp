// The arguments of `hopscope`, and what its start page offers.

#include <QTemporaryDir>
#include <QTest>

#include "command_line.h"
#include "samples.h"
#include "status_line.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::window;

class TestCommandLine : public QObject {
    Q_OBJECT
private slots:
    void everyOptionArrives();
    void mistakesAreRefusedInWords_data();
    void mistakesAreRefusedInWords();
    void exportsAreToldByTheirNames_data();
    void exportsAreToldByTheirNames();
    void anEngineCommandIsSplitLikeAShellWould();
    void theEngineIsNamedByItsHost_data();
    void theEngineIsNamedByItsHost();
    void theSummaryOfAModelCountsTablesOfItsData();
    void theSamplesAreThereWithTheirData();
    void dataIsFoundBesideAModel();
};

void TestCommandLine::everyOptionArrives()
{
    const auto line = parseCommandLine({"hopscope",
                                        "m.pt",
                                        "--data",
                                        "a",
                                        "--data=b",
                                        "--role",
                                        "x=node",
                                        "--plan",
                                        "p.json",
                                        "--engine",
                                        "ssh host engine serve",
                                        "--run",
                                        "--screenshot",
                                        "s.png",
                                        "--export",
                                        "g.svg",
                                        "--export",
                                        "trace=t.json",
                                        "--width",
                                        "8000",
                                        "--size",
                                        "800x600",
                                        "--theme",
                                        "dark",
                                        "--perspective",
                                        "run",
                                        "--recover"});
    QVERIFY(line.has_value());
    QCOMPARE(line->file, QString("m.pt"));
    QCOMPARE(line->data, (QStringList{"a", "b"}));
    QCOMPARE(line->roles, QStringList{"x=node"});
    QCOMPARE(line->plan, QString("p.json"));
    QCOMPARE(line->engine, QString("ssh host engine serve"));
    QVERIFY(line->run && line->recover && line->unattended());
    QCOMPARE(line->exports.size(), 2);
    QCOMPARE(line->exports[1].kind, QString("trace"));
    QCOMPARE(line->width, 8000);
    QCOMPARE(*line->size, QSize(800, 600));
    QCOMPARE(*line->theme, style::Mode::Dark);
    QCOMPARE(line->perspective, QString("run"));
    QVERIFY(!parseCommandLine({"hopscope"})->unattended());
}

void TestCommandLine::mistakesAreRefusedInWords_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("words");
    QTest::newRow("unknown option") << QStringList{"--colour"} << "unknown option 'colour'";
    QTest::newRow("misspelt next to help") << QStringList{"--tehme", "dark", "--help"} << "unknown option 'tehme'";
    QTest::newRow("two files") << QStringList{"a.pt", "b.pt"} << "only one model or session";
    QTest::newRow("size") << QStringList{"--size", "big"} << "WxH";
    QTest::newRow("tiny size") << QStringList{"--size", "3x4"} << "WxH";
    QTest::newRow("theme") << QStringList{"--theme", "pink"} << "pink";
    QTest::newRow("perspective") << QStringList{"--perspective", "teach"} << "teach";
    QTest::newRow("width") << QStringList{"--width", "40000"} << "32000";
    QTest::newRow("export") << QStringList{"--export", "graph.docx"} << "docx";
    QTest::newRow("export without a file") << QStringList{"--export", "graph="} << "does not support";
}

void TestCommandLine::mistakesAreRefusedInWords()
{
    QFETCH(QStringList, arguments);
    QFETCH(QString, words);
    const auto line = parseCommandLine(QStringList{"hopscope"} + arguments);
    QVERIFY(!line.has_value());
    QCOMPARE(line.error().code, base::ErrorCode::Usage);
    QVERIFY2(line.error().message.find(words.toStdString()) != std::string::npos, line.error().message.c_str());
    const bool misspelt = words.endsWith("'tehme'");
    QCOMPARE(line.error().hint, std::string(misspelt ? "did you mean '--theme'? " : "") + "see hopscope --help");
}

void TestCommandLine::exportsAreToldByTheirNames_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("file");
    QTest::newRow("picture") << "out/a.svg"
                             << "graph"
                             << "out/a.svg";
    QTest::newRow("plots by name") << "plots.pdf"
                                   << "plots"
                                   << "plots.pdf";
    QTest::newRow("table by name") << "stages.csv"
                                   << "stages"
                                   << "stages.csv";
    QTest::newRow("table") << "x.csv"
                           << "ops"
                           << "x.csv";
    QTest::newRow("trace") << "x.json"
                           << "trace"
                           << "x.json";
    QTest::newRow("kind") << "batches=x.csv"
                          << "batches"
                          << "x.csv";
    QTest::newRow("equals in a name") << "a=b.svg"
                                      << "graph"
                                      << "a=b.svg";
}

void TestCommandLine::exportsAreToldByTheirNames()
{
    QFETCH(QString, text);
    QFETCH(QString, kind);
    QFETCH(QString, file);
    const auto target = exportTarget(text);
    QVERIFY(target.has_value());
    QCOMPARE(target->kind, kind);
    QCOMPARE(target->file, file);
}

void TestCommandLine::anEngineCommandIsSplitLikeAShellWould()
{
    QCOMPARE(splitCommand("ssh host \"my engine\" serve"), (QStringList{"ssh", "host", "my engine", "serve"}));
    QCOMPARE(splitCommand("  '/a b/it''s' --name=\"it's\"  '' \\x "),
             (QStringList{"/a b/its", "--name=it's", "", "\\x"}));
    QVERIFY(splitCommand("  ").isEmpty());
}

void TestCommandLine::theEngineIsNamedByItsHost_data()
{
    QTest::addColumn<QString>("command");
    QTest::addColumn<QString>("where");
    QTest::newRow("local") << ""
                           << "local";
    QTest::newRow("host") << "ssh -q me@gpu-server hopscope-engine serve"
                          << "gpu-server";
    QTest::newRow("program") << "/opt/bin/wrapper serve"
                             << "wrapper";
    QTest::newRow("quoted") << "'/opt/my bin/hopscope-scale' serve --address local"
                            << "hopscope-scale";
}

void TestCommandLine::theEngineIsNamedByItsHost()
{
    QFETCH(QString, command);
    QFETCH(QString, where);
    QCOMPARE(engineWhere(command), where);
    EngineSummary engine{
        .state = jobs::EngineState::Ready, .where = engineWhere(command), .device = "cpu", .running = true};
    QCOMPARE(engineSummary(engine), QString("engine: %1, CPU · running").arg(where));
    engine.confinement = "not confined: this kernel has no Landlock";
    QCOMPARE(engineSummary(engine), QString("engine: %1, CPU · running · not confined").arg(where));
    QVERIFY(confinementText(engine.confinement).contains("has all of your permissions (this kernel has no Landlock)"));
    engine.confinement = "confined";
    QVERIFY(engineSummary(engine).endsWith(" · confined"));
}

void TestCommandLine::theSummaryOfAModelCountsTablesOfItsData()
{
    hopscope::protocol::ModelRecord model;
    model.className = "GCN";
    model.sizes = {{"(edge_index[v9] + node)", 999}, {"edge_index", 800}, {"edge_index[v9]", 799}, {"node", 200}};
    QVERIFY2(modelSummary(model).endsWith(QString("200 nodes · 800 edges")), qPrintable(modelSummary(model)));
}

void TestCommandLine::theSamplesAreThereWithTheirData()
{
    const QVector<Sample> samples = samplesIn(samplesFolder(QCoreApplication::applicationDirPath()));
    QCOMPARE(samples.size(), 6);
    for (const Sample& sample : samples) {
        QVERIFY2(QFile::exists(sample.model), qPrintable(sample.model));
        QVERIFY2(QFile::exists(sample.data), qPrintable(sample.title));
        QVERIFY(!sample.text.isEmpty());
    }
    QVERIFY(samplesIn({}).isEmpty());
}

void TestCommandLine::dataIsFoundBesideAModel()
{
    QTemporaryDir folder;
    const auto touch = [&](const QString& name) { QVERIFY(QFile(folder.filePath(name)).open(QIODevice::WriteOnly)); };
    touch("model.pt");
    QCOMPARE(dataBeside(folder.filePath("model.pt")), QString());
    touch("model.expected.safetensors");
    QCOMPARE(dataBeside(folder.filePath("model.pt")), QString());
    touch("inputs.safetensors");
    QCOMPARE(dataBeside(folder.filePath("model.pt")), folder.filePath("inputs.safetensors"));
    touch("more.safetensors");
    QCOMPARE(dataBeside(folder.filePath("model.pt")), QString());
    touch("graph.safetensors");
    QCOMPARE(dataBeside(folder.filePath("model.pt")), folder.filePath("graph.safetensors"));
}

HOPSCOPE_QT_SUITE(window_command_line, TestCommandLine)
#include "test_command_line.moc"
