// Exporting a split from the window, and looking at one: what is shown, what is said, and that nothing waits for a closed dialog.

#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTest>

#include "bed.h"
#include "export_dialog.h"
#include "export_record.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::window;
using bed::Bed;

namespace {

QString said(QObject& dialog, const char* label) { return bed::child<QLabel>(dialog, label)->text(); }

ExportDialog* openExport(Bed& bed)
{
    bed.window->actionBook().find("file.exportSplit")->trigger();
    return bed.window->findChild<ExportDialog*>();
}

// Chooses a file in the dialog that the action opens.
ExportRecordDialog* lookAt(Bed& bed, const QString& schema)
{
    bed.window->actionBook().find("file.openExport")->trigger();
    auto* files = bed.window->findChild<QFileDialog*>("fileDialog");
    if (files == nullptr) return nullptr;
    emit files->filesSelected({schema});
    files->close();
    return bed.window->findChild<ExportRecordDialog*>();
}

}  // namespace

class TestExports : public QObject {
    Q_OBJECT
private slots:
    void filesAreShownBeforeAnythingIsWritten();
    void whatWasWrittenIsSaidWithItsVerdict();
    void whatCannotBeWrittenHasItsSentence();
    void aRecordIsShownAndCheckedForWhatIsOpen();
    void anExportOfAnotherModelDoesNotHold();
    void aCheckThatCouldNotRunSaysSo();
    void withoutAModelThereIsOnlyTheRecord();
    void aClosedDialogAnswersNothing();
};

void TestExports::filesAreShownBeforeAnythingIsWritten()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    ExportDialog* dialog = openExport(bed);
    QVERIFY(dialog != nullptr);
    auto* files = bed::child<QListWidget>(*dialog, "exportFiles");
    QTRY_COMPARE(files->count(), 10);
    QVERIFY(bed::child<QPlainTextEdit>(*dialog, "exportText")->toPlainText().contains("class Stage1"));
    files->setCurrentRow(0);
    QVERIFY(bed::child<QPlainTextEdit>(*dialog, "exportText")->toPlainText().contains("once the split is verified"));
    QVERIFY(bed::child<QLineEdit>(*dialog, "exportFolder")->text().endsWith("chain3-split"));
}

void TestExports::whatWasWrittenIsSaidWithItsVerdict()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    ExportDialog* dialog = openExport(bed);
    bed::child<QLineEdit>(*dialog, "exportFolder")->setText("/exports/split");
    bed::child<QPushButton>(*dialog, "exportWrite")->click();
    QTRY_VERIFY(
        said(*dialog, "exportStatus").startsWith("Written to /exports/split: equal within the tolerance on all rows."));
    QVERIFY(bed::child<QPushButton>(*dialog, "exportWrite")->isEnabled());
}

void TestExports::whatCannotBeWrittenHasItsSentence()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    ExportDialog* dialog = openExport(bed);
    bed::child<QLineEdit>(*dialog, "exportFolder")->setText("/exports/taken");
    bed::child<QPushButton>(*dialog, "exportWrite")->click();
    QTRY_VERIFY(said(*dialog, "exportStatus").contains("/exports/taken: exists already"));
    QVERIFY(bed::child<QPushButton>(*dialog, "exportWrite")->isEnabled());
}

void TestExports::aRecordIsShownAndCheckedForWhatIsOpen()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    ExportRecordDialog* dialog = lookAt(bed, "/exports/split/schema.json");
    QVERIFY(dialog != nullptr);
    QTRY_VERIFY2(said(*dialog, "exportHolds").startsWith("Still valid: equal"),
                 qPrintable(said(*dialog, "exportHolds")));
    QVERIFY(said(*dialog, "exportHolds").contains("differ from the data of the export"));
    QStringList shown;
    for (const QLabel* label : dialog->findChildren<QLabel*>()) shown.append(label->text());
    const auto& hashes = bed.window->document().model()->hashes;
    for (const std::string& text : {std::string("/exports/split"), std::string("hopscope 0.1.0"), hashes.at("model")})
        QVERIFY2(shown.contains(QString::fromStdString(text)), text.c_str());
}

void TestExports::anExportOfAnotherModelDoesNotHold()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    ExportRecordDialog* dialog = lookAt(bed, "/exports/changed/schema.json");
    QVERIFY(dialog != nullptr);
    QTRY_VERIFY(said(*dialog, "exportHolds").startsWith("No longer valid: /exports/changed: the model has changed"));
}

void TestExports::aCheckThatCouldNotRunSaysSo()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    ExportRecordDialog* dialog = lookAt(bed, "/exports/scarce/schema.json");
    QVERIFY(dialog != nullptr);
    QTRY_COMPARE(said(*dialog, "exportHolds"), QStringLiteral("It could not be checked: out of memory"));
}

void TestExports::withoutAModelThereIsOnlyTheRecord()
{
    Bed bed;
    ExportRecordDialog* dialog = lookAt(bed, "/exports/split/schema.json");
    QVERIFY(dialog != nullptr);
    QTRY_COMPARE(said(*dialog, "exportHolds"), QStringLiteral("Open its model to check whether it is still valid."));
    delete dialog;
    dialog = lookAt(bed, "/exports/none/schema.json");
    QVERIFY(dialog != nullptr);
    QTRY_VERIFY(said(*dialog, "exportHolds").contains("no such file"));
}

void TestExports::aClosedDialogAnswersNothing()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    ExportDialog* dialog = openExport(bed);
    bed::child<QLineEdit>(*dialog, "exportFolder")->setText("/exports/split");
    bed::child<QPushButton>(*dialog, "exportWrite")->click();
    delete dialog;
    QVERIFY(bed.run());  // the engine goes on
}

HOPSCOPE_QT_SUITE(window_exports, TestExports)
#include "test_exports.moc"
