#include "study_actions.h"

#include <QCoreApplication>

#include "models/run_log.h"
#include "models/tr.h"
#include "panels/inspector.h"
#include "study/animation/animation_panel.h"
#include "study/debugger/debug_panel.h"
#include "study/rules/rules_panel.h"
#include "study/tensors/tensor_panel.h"

namespace hopscope::window {

namespace {

using study::Hunt;

study::Debugger& debuggerOf(const WindowParts& parts)
{
    return *static_cast<study::Debugger*>(parts.docks.dock(QStringLiteral("debugger"))->widget());
}

study::TensorPanel& tensorsOf(const WindowParts& parts)
{
    return *static_cast<study::TensorPanel*>(parts.docks.dock(QStringLiteral("tensor"))->widget());
}

// Opens it in the perspective that has room for it, unless it is visible already.
void bringTensor(const WindowParts& parts)
{
    if (!parts.docks.dock(QStringLiteral("tensor"))->isVisible()) parts.docks.setPerspective(QStringLiteral("explain"));
    parts.docks.bring(QStringLiteral("tensor"));
}

// Shows the selected value; without a selection, the panel says so.
void showTensor(const WindowParts& parts)
{
    bringTensor(parts);
    parts.docks.reveal(QStringLiteral("tensor"));
    tensorsOf(parts).start();
}

void showTensorOf(const WindowParts& parts, protocol::ValueId value)
{
    parts.selection.select(models::Target::value(value));
    showTensor(parts);
}

// Shows the operator at which the run is stopped, and its result. Keeps the focus, so that the user can go on stepping.
void showStop(const WindowParts& parts)
{
    const auto& log = parts.document.runLog();
    if (!log || !log->stop()) return;
    const protocol::OpId op = parts.document.model()->findOp(log->stop()->op);
    if (op.valid()) parts.selection.reveal(models::Target::op(op));
    bringTensor(parts);
    tensorsOf(parts).showStopped();
}

// Files are written on the engine's machine: if that is remote, only folders can be chosen.
void saveTensor(const WindowParts& parts, FileDialogs& dialogs)
{
    study::TensorPanel& panel = tensorsOf(parts);
    if (!panel.tensor()) return;
    const QString name = QString::fromStdString(ir::valueName(panel.tensor()->place.value)) + QStringLiteral(".npy");
    const FileChooser files = dialogs.engineFiles();
    if (files.local)
        return dialogs.save(tr("Save the tensor"), name, tr("NumPy arrays (*.npy)"),
                            [&panel](const QString& file) { panel.saveTo(file); });
    files.choose(&parts.window, tr("Folder for %1").arg(name), {}, Wanted::Folder,
                 [&panel, name](const QStringList& chosen) { panel.saveTo(chosen.first() + u'/' + name); });
}

// Starts at once if the user has nothing to choose first.
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
    files.choose(&parts.window, tr("The model to compare with"), modelFilter(), Wanted::File,
                 [&parts](const QStringList& chosen) { debuggerOf(parts).setOther(chosen.value(0)); });
}

void addDebugging(ActionBook& book, const WindowParts& parts)
{
    using enum Needs;
    book.addAll({
        {.name = "explain.divergence",
         .text = tr("Compare with the &Unsplit Model"),
         .tip = tr("Find the first operator at which the staged run and the model differ"),
         .needs = Plan,
         .run = looker(parts, Hunt::Staged)},
        {.name = "explain.against",
         .text = tr("Compare with &Another Model"),
         .tip = tr("Find the first operator at which two models differ"),
         .needs = Model,
         .run = looker(parts, Hunt::Against)},
        {.name = "explain.nan",
         .text = tr("Find the Origin of &NaN"),
         .tip = tr("Find the operators that turn finite numbers into NaN or infinity"),
         .needs = Plan,
         .run = looker(parts, Hunt::NonFinite)},
        {.name = "explain.tensor",
         .text = tr("Show the &Tensor"),
         .shortcut = "Ctrl+T",
         .tip = tr("Show statistics and rows of the selected value"),
         .needs = Plan,
         .run = [&parts] { showTensor(parts); }},
        {.name = "explain.rows",
         .text = tr("Show &Rows of Nodes"),
         .tip = tr("Show the rows that the selected operator computes for some nodes"),
         .needs = Plan,
         .run = looker(parts, Hunt::Rows)},
        {.name = "explain.messages",
         .text = tr("Show &Messages into Nodes"),
         .tip = tr("Show the contribution of each neighbour at the selected aggregation"),
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
         .tip = tr("Write an animated picture (PNG), or each frame as SVG"),
         .needs = Plan,
         .run = ask},
    });
    auto* panel = static_cast<study::AnimationPanel*>(parts.docks.dock(QStringLiteral("animation"))->widget());
    QObject::connect(panel, &study::AnimationPanel::exportWanted, &book, ask);
}

// Panels without other dependencies.
void addPanels(ActionBook& book, const WindowParts& parts)
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
         .tip = tr("Find the operator at which numbers go wrong"),
         .needs = Model,
         .run = [&parts] { parts.docks.reveal(QStringLiteral("debugger")); }},
        {.name = "explain.follow",
         .text = tr("Follow a N&ode"),
         .shortcut = "Ctrl+L",
         .tip = tr("Show the row of a node in each stored value of its type, and the contributions of its neighbours"),
         .needs = Model,
         .run = [&parts] { parts.docks.reveal(QStringLiteral("follow")); }},
        {.name = "explain.monitor",
         .text = tr("Mon&itor"),
         .shortcut = "Ctrl+I",
         .tip = tr("Show the time of each operator in a run on the CPU, and the memory of batches"),
         .needs = Model,
         .run = [&parts] { parts.docks.reveal(QStringLiteral("monitor")); }},
        {.name = "explain.breakpoints",
         .text = tr("&Breakpoints"),
         .shortcut = "Ctrl+Shift+B",
         .tip = tr("Show where runs stop, and step through them"),
         .needs = Model,
         .run = [&parts] { parts.docks.reveal(QStringLiteral("breakpoints")); }},
        {.name = "explain.rules",
         .text = tr("R&ules Step by Step"),
         .shortcut = "Ctrl+U",
         .tip = tr("Show step by step how the rules and the optimum arrive at their plans"),
         .needs = Plan,
         .run = [&parts] { parts.docks.reveal(QStringLiteral("rules")); }},
    });
}

}  // namespace

void addStudyActions(ActionBook& book, const WindowParts& parts, FileDialogs& dialogs, Exporter& exporter)
{
    addPanels(book, parts);
    addAnimation(book, parts, exporter);
    addDebugging(book, parts);
    QDockWidget* dock = parts.docks.dock(QStringLiteral("rules"));
    auto* rules = static_cast<study::Rules*>(dock->widget());
    QObject::connect(dock, &QDockWidget::visibilityChanged, rules, &study::Rules::setSeen);
    QObject::connect(rules, &study::Rules::stepShown, &parts.graph, &graphview::GraphPanel::showBeside);
    QObject::connect(&parts.document, &models::Document::runChanged, &book, [&parts, &book] {
        if (const auto& log = parts.document.runLog())
            QObject::connect(log.get(), &models::RunLog::stopped, &book, [&parts] { showStop(parts); });
    });
    QObject::connect(&tensorsOf(parts), &study::TensorPanel::saveWanted, &book,
                     [&parts, &dialogs] { saveTensor(parts, dialogs); });
    QObject::connect(&parts.graph, &graphview::GraphPanel::tensorRequested, &book,
                     [&parts](protocol::ValueId value) { showTensorOf(parts, value); });
    auto* inspector = static_cast<panels::Inspector*>(parts.docks.dock(QStringLiteral("inspector"))->widget());
    QObject::connect(inspector, &panels::Inspector::tensorWanted, &book,
                     [&parts](protocol::ValueId value) { showTensorOf(parts, value); });
    QObject::connect(&debuggerOf(parts), &study::Debugger::compared, &parts.graph, &graphview::GraphPanel::showErrors);
    QObject::connect(&debuggerOf(parts), &study::Debugger::otherModelWanted, &book,
                     [&parts, &dialogs] { chooseOther(parts, dialogs); });
}

}  // namespace hopscope::window
