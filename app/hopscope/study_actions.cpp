#include "study_actions.h"

#include <QCoreApplication>

#include "study/animation_panel.h"
#include "study/debug_panel.h"
#include "study/rules_panel.h"

namespace hopscope::window {

namespace {

using study::Hunt;

QString tr(const char* text) { return QCoreApplication::translate("StudyActions", text); }

study::Debugger& debuggerOf(const WindowParts& parts)
{
    return *static_cast<study::Debugger*>(parts.docks.dock(QStringLiteral("debugger"))->widget());
}

// Begins where nothing is to be chosen first.
std::function<void()> looker(const WindowParts& parts, Hunt hunt)
{
    return [&parts, hunt] {
        parts.docks.reveal(QStringLiteral("debugger"));
        study::Debugger& debugger = debuggerOf(parts);
        if (!debugger.busy()) debugger.prepare(hunt);
        if (hunt == Hunt::Staged || hunt == Hunt::NonFinite) debugger.start();
    };
}

void chooseOther(const WindowParts& parts, FileDialogs& dialogs)
{
    const FileChooser files = dialogs.engineFiles();
    files.choose(&parts.window, tr("The model to compare with"), tr("Models (*.pt *.pth *.zip)"), Wanted::File,
                 [&parts](const QStringList& chosen) { debuggerOf(parts).setOther(chosen.value(0)); });
}

void addDebugging(ActionBook& book, const WindowParts& parts)
{
    using enum Needs;
    book.addAll({
        {.name = "explain.divergence",
         .text = tr("Compare with the &Unsplit Model"),
         .shortcut = "",
         .tip = tr("Find the first operator at which the staged run and the model differ"),
         .needs = Plan,
         .run = looker(parts, Hunt::Staged)},
        {.name = "explain.against",
         .text = tr("Compare with &Another Model"),
         .shortcut = "",
         .tip = tr("Find the first operator at which two models differ"),
         .needs = Model,
         .run = looker(parts, Hunt::Against)},
        {.name = "explain.nan",
         .text = tr("Find the Origin of &NaN"),
         .shortcut = "",
         .tip = tr("Find the operators that turn finite numbers into NaN or infinity"),
         .needs = Plan,
         .run = looker(parts, Hunt::NonFinite)},
        {.name = "explain.rows",
         .text = tr("Show &Rows of Nodes"),
         .shortcut = "",
         .tip = tr("Show what the selected operator computes for some nodes"),
         .needs = Plan,
         .run = looker(parts, Hunt::Rows)},
        {.name = "explain.messages",
         .text = tr("Show &Messages into Nodes"),
         .shortcut = "",
         .tip = tr("Show what each neighbour adds at the selected aggregation"),
         .needs = Plan,
         .run = looker(parts, Hunt::Messages)},
    });
}

void addAnimation(ActionBook& book, const WindowParts& parts, Exporter& exporter)
{
    using enum Needs;
    const auto ask = [&exporter] {
        exporter.ask(QStringLiteral("animation"),
                     QCoreApplication::translate("StudyActions", "Pictures (*.png *.svg)"));
    };
    book.addAll({
        {.name = "explain.animation",
         .text = tr("Animation of the &Batches"),
         .shortcut = "Ctrl+M",
         .tip = tr("Watch the batches of the plan move over the graph"),
         .needs = Plan,
         .run = [&parts] { parts.docks.reveal(QStringLiteral("animation")); }},
        {.name = "explain.exportAnimation",
         .text = tr("E&xport the Animation…"),
         .shortcut = "",
         .tip = tr("Write an animated picture (PNG), or each frame as SVG"),
         .needs = Plan,
         .run = ask},
    });
    auto* panel = static_cast<study::AnimationPanel*>(parts.docks.dock(QStringLiteral("animation"))->widget());
    QObject::connect(panel, &study::AnimationPanel::exportWanted, &book, ask);
}

}  // namespace

void addStudyActions(ActionBook& book, const WindowParts& parts, FileDialogs& dialogs, Exporter& exporter)
{
    using enum Needs;
    book.addAll({
        {.name = "explain.receptive",
         .text = tr("Receptive &Field of a Node"),
         .shortcut = "Ctrl+R",
         .tip = tr("Show which rows the result of a node depends on"),
         .needs = Model,
         .run = [&parts] { parts.docks.reveal(QStringLiteral("receptive")); }},
        {.name = "explain.debugger",
         .text = tr("&Debugger"),
         .shortcut = "Ctrl+D",
         .tip = tr("Find where numbers go wrong"),
         .needs = Model,
         .run = [&parts] { parts.docks.reveal(QStringLiteral("debugger")); }},
        {.name = "explain.rules",
         .text = tr("R&ules Step by Step"),
         .shortcut = "Ctrl+U",
         .tip = tr("Show step by step how each strategy arrives at its plan"),
         .needs = Plan,
         .run = [&parts] { parts.docks.reveal(QStringLiteral("rules")); }},
    });
    addAnimation(book, parts, exporter);
    addDebugging(book, parts);
    QDockWidget* dock = parts.docks.dock(QStringLiteral("rules"));
    auto* rules = static_cast<study::Rules*>(dock->widget());
    QObject::connect(dock, &QDockWidget::visibilityChanged, rules, &study::Rules::setSeen);
    QObject::connect(rules, &study::Rules::stepShown, &parts.graph, &graphview::GraphPanel::showBeside);
    QObject::connect(&debuggerOf(parts), &study::Debugger::otherModelWanted, &book,
                     [&parts, &dialogs] { chooseOther(parts, dialogs); });
}

}  // namespace hopscope::window
