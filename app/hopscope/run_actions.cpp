#include "run_actions.h"

#include "availability.h"
#include "models/tr.h"
#include "panels/panels.h"

namespace hopscope::window {

namespace {

void toggleBreakpoint(const WindowParts& parts)
{
    const models::Target place = models::breakPlace(*parts.document.model(), parts.selection.current());
    if (place.kind == models::Target::Kind::None)
        return parts.status.showMessage(tr("Select an operator or a stage first."), 8000);
    setBreakpoints(parts, models::toggled(parts.document.settings().breakpoints, place));
}

void addSteering(ActionBook& book, const WindowParts& parts)
{
    using enum Needs;
    const auto pauseOrResume = [&parts] {
        if (isMet(PausedRun, parts)) parts.workbench.resume();
        else parts.workbench.pause();
    };
    book.addAll({
        {.name = "run.start",
         .text = tr("&Start"),
         .shortcut = "F9",
         .tip = tr("Run the plan for all nodes, and compare with the model unless Verify is none"),
         .needs = IdleRun,
         .run = [&parts] { parts.workbench.startRun(); }},
        {.name = "run.startPaused",
         .text = tr("Start &Step by Step"),
         .shortcut = "Ctrl+F9",
         .tip = tr("Start paused, to step batch by batch"),
         .needs = IdlePausable,
         .run = [&parts] { parts.workbench.startRun(true); }},
        {.name = "run.pause",
         .text = tr("&Pause or Resume"),
         .shortcut = "F8",
         .tip = tr("Pause after the current batch, or resume"),
         .needs = ActivePausable,
         .run = pauseOrResume},
        {.name = "run.stepBatch",
         .text = tr("Step One &Batch"),
         .shortcut = "F10",
         .tip = tr("Run one more batch, or start with the first"),
         .needs = Step,
         .run = [&parts] { parts.workbench.step(protocol::RunStep::Batch); }},
        {.name = "run.stepStage",
         .text = tr("Step One Sta&ge"),
         .shortcut = "Shift+F9",
         .tip = tr("Run one more stage, or start with the first"),
         .needs = Step,
         .run = [&parts] { parts.workbench.step(protocol::RunStep::Stage); }},
        {.name = "run.stop",
         .text = tr("S&top"),
         .shortcut = "Shift+F5",
         .tip = tr("Stop the run; its results are discarded unless it can be resumed"),
         .needs = ActiveRun,
         .run = [&parts] { parts.workbench.stopRun(); }},
    });
}

void addOperatorSteps(ActionBook& book, const WindowParts& parts)
{
    using enum Needs;
    book.addAll({
        {.name = "run.stepOperator",
         .text = tr("Step One &Operator"),
         .shortcut = "Ctrl+F10",
         .tip = tr("Compute one more operator of a batch on the CPU, or start with the first"),
         .needs = Step,
         .run = [&parts] { parts.workbench.step(protocol::RunStep::Operator); }},
        {.name = "run.breakpoint",
         .text = tr("Set or Remove a Brea&kpoint"),
         .shortcut = "F7",
         .tip = tr("Stop runs after the selected operator, or after each operator of the selected stage"),
         .needs = Plan,
         .run = [&parts] { toggleBreakpoint(parts); }},
        {.name = "run.clearBreakpoints",
         .text = tr("Remove A&ll Breakpoints"),
         .tip = tr("Let runs continue to the end"),
         .needs = Plan,
         .run = [&parts] { setBreakpoints(parts, {}); }},
    });
}

void addReports(ActionBook& book, const WindowParts& parts, FileDialogs& dialogs, Exporter& exporter)
{
    using enum Needs;
    book.addAll({
        {.name = "run.openReport",
         .text = tr("Open a &Report…"),
         .tip = tr("Show an earlier run next to the others"),
         .needs = Model,
         .run =
             [&parts, &dialogs] {
                 dialogs.open(tr("Open a report"), tr("Reports (*.json)"),
                              [&parts](const QString& file) { parts.workbench.openReport(file); });
             }},
        {.name = "run.saveReport",
         .text = tr("S&ave the Report…"),
         .tip = tr("Write the report.json of the last run"),
         .needs = Runs,
         .run = [&exporter] { exporter.ask(QStringLiteral("report"), tr("Reports (*.json)")); }},
    });
}

panels::Context contextOf(const WindowParts& parts)
{
    return {.document = parts.document,
            .selection = parts.selection,
            .workbench = parts.workbench,
            .engine = &parts.engine};
}

void addEngine(ActionBook& book, const WindowParts& parts)
{
    using enum Needs;
    book.addAll({
        {.name = "run.settings",
         .text = tr("More Se&ttings…"),
         .tip = tr("Further settings of plans and runs"),
         .needs = Nothing,
         .run = [&parts] { panels::showMoreSettings(contextOf(parts), parts.window.centralWidget()); }},
        {.name = "run.machine",
         .text = tr("&Machine…"),
         .tip = tr("Rates of the device, typical or measured"),
         .needs = Nothing,
         .run = [&parts] { panels::showMachine(contextOf(parts), parts.window.centralWidget()); }},
        {.name = "run.restartEngine",
         .text = tr("Restart the &Engine"),
         .tip = tr("Stop the engine and start it again"),
         .needs = Nothing,
         .run = [&parts] { parts.engine.restart(); }},
    });
}

}  // namespace

void setBreakpoints(const WindowParts& parts, const std::vector<models::Breakpoint>& breakpoints)
{
    models::Settings settings = parts.document.settings();
    settings.breakpoints = breakpoints;
    parts.workbench.setRunSettings(settings);
}

void addRunActions(ActionBook& book, const WindowParts& parts, FileDialogs& dialogs, Exporter& exporter)
{
    addSteering(book, parts);
    addOperatorSteps(book, parts);
    addReports(book, parts, dialogs, exporter);
    addEngine(book, parts);
}

}  // namespace hopscope::window
