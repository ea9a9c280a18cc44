#include "file_actions.h"

#include <QFileInfo>

#include "export_dialog.h"
#include "export_record.h"
#include "models/tr.h"

namespace hopscope::window {

namespace {

void addOpening(ActionBook& book, const WindowParts& parts, SessionControl& sessions)
{
    using enum Needs;
    book.addAll({
        {.name = "file.open",
         .text = tr("&Open a Model…"),
         .shortcut = "Ctrl+O",
         .tip = tr("Open a model with its data"),
         .needs = Nothing,
         .run = [&sessions] { sessions.askForModel({}); }},
        {.name = "file.openSession",
         .text = tr("Open a &Session…"),
         .shortcut = "Ctrl+Shift+O",
         .tip = tr("Open a session file"),
         .needs = Nothing,
         .run = [&sessions] { sessions.askForSession(); }},
        {.name = "file.data",
         .text = tr("Change the &Data…"),
         .tip = tr("Open the same model with different data or roles"),
         .needs = Model,
         .run =
             [&parts, &sessions] {
                 sessions.askForModel({.file = parts.document.modelPath(),
                                       .data = parts.document.data(),
                                       .roles = parts.document.roles()});
             }},
        {.name = "file.reload",
         .text = tr("&Reload"),
         .shortcut = "F5",
         .tip = tr("Reload the files, keeping cuts and view"),
         .needs = Model,
         .run = [&sessions] { sessions.reload(); }},
        {.name = "file.save",
         .text = tr("Sa&ve the Session"),
         .shortcut = "Ctrl+S",
         .tip = tr("Save the paths of the files, the cuts, breakpoints, settings and runs, and the view"),
         .needs = Model,
         .run = [&sessions] { sessions.save(false); }},
        {.name = "file.saveAs",
         .text = tr("Save the Session &As…"),
         .shortcut = "Ctrl+Shift+S",
         .tip = tr("Save under a different name"),
         .needs = Model,
         .run = [&sessions] { sessions.save(true); }},
    });
}

void addExports(ActionBook& book, Exporter& exporter)
{
    using enum Needs;
    book.addAll({
        {.name = "file.exportPicture",
         .text = tr("Export the &Graph…"),
         .shortcut = "Ctrl+E",
         .tip = tr("Write the graph as SVG, PDF or PNG"),
         .needs = Model,
         .run = [&exporter] { exporter.ask(QStringLiteral("graph"), tr("Pictures (*.svg *.pdf *.png)")); }},
        {.name = "file.exportPlots",
         .text = tr("Export the &Plots…"),
         .tip = tr("Write the plots as SVG, PDF, PNG or CSV"),
         .needs = RunLog,
         .run = [&exporter] { exporter.ask(QStringLiteral("plots"), tr("Plots (*.svg *.pdf *.png *.csv)")); }},
        {.name = "file.exportOps",
         .text = tr("Export the &Table of Operators…"),
         .tip = tr("Write the operators as CSV"),
         .needs = Model,
         .run = [&exporter] { exporter.ask(QStringLiteral("ops"), tr("Tables (*.csv)")); }},
        {.name = "file.exportStages",
         .text = tr("Export the Table of Sta&ges…"),
         .tip = tr("Write the stages as CSV"),
         .needs = Plan,
         .run = [&exporter] { exporter.ask(QStringLiteral("stages"), tr("Tables (*.csv)")); }},
        {.name = "file.exportTrace",
         .text = tr("Export the Run's &Trace…"),
         .tip = tr("Write the run for a trace viewer (JSON)"),
         .needs = RunLog,
         .run = [&exporter] { exporter.ask(QStringLiteral("trace"), tr("Traces (*.json)")); }},
    });
}

void addFolders(ActionBook& book, const WindowParts& parts, FileDialogs& dialogs)
{
    using enum Needs;
    book.addAll({
        {.name = "file.exportSplit",
         .text = tr("E&xport the Split…"),
         .shortcut = "Ctrl+Shift+E",
         .tip = tr("Write the plan as a folder of code that runs without Hopscope"),
         .needs = Plan,
         .run = [&parts] { (new ExportDialog(parts))->open(); }},
        {.name = "file.openExport",
         .text = tr("Check a&n Exported Split…"),
         .tip = tr("Show the record of an exported split, and whether it is still valid"),
         .needs = Nothing,
         .run =
             [&parts, &dialogs] {
                 dialogs.engineFiles().choose(
                     &parts.window, tr("Choose the schema.json of an exported split"),
                     tr("Exported splits (schema.json)"), Wanted::File, [&parts](const QStringList& chosen) {
                         if (chosen.isEmpty()) return;
                         (new ExportRecordDialog(parts, QFileInfo(chosen.first()).path()))->open();
                     });
             }},
    });
}

void addClosing(ActionBook& book, const WindowParts& parts, SessionControl& sessions)
{
    using enum Needs;
    book.addAll({
        {.name = "file.close",
         .text = tr("&Close"),
         .shortcut = "Ctrl+W",
         .tip = tr("Close the model"),
         .needs = Model,
         .run = [&sessions] { sessions.close(); }},
        {.name = "file.quit",
         .text = tr("&Quit"),
         .shortcut = "Ctrl+Q",
         .tip = tr("Quit Hopscope"),
         .needs = Nothing,
         .run = [&parts] { parts.window.close(); }},
    });
}

}  // namespace

void addFileActions(ActionBook& book, const WindowParts& parts, SessionControl& sessions, Exporter& exporter,
                    FileDialogs& dialogs)
{
    addOpening(book, parts, sessions);
    addExports(book, exporter);
    addFolders(book, parts, dialogs);
    addClosing(book, parts, sessions);
}

}  // namespace hopscope::window
