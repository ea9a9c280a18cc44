#include "plan_actions.h"

#include "base/rules.h"
#include "models/tr.h"

namespace hopscope::window {

namespace {

void addStrategies(ActionBook& book, const WindowParts& parts)
{
    using enum Needs;
    book.addAll({
        {.name = "plan.optimalTime",
         .text = tr("Strategy: Optimal &Time"),
         .tip = tr("The plan with the shortest predicted time, without pins"),
         .needs = Model,
         .run = [&parts] { parts.workbench.setStrategy(base::Strategy::Optimal, base::Objective::Time); }},
        {.name = "plan.optimalBytes",
         .text = tr("Strategy: Optimal &Bytes"),
         .tip = tr("The plan that moves the fewest bytes, without pins"),
         .needs = Model,
         .run = [&parts] { parts.workbench.setStrategy(base::Strategy::Optimal, base::Objective::Bytes); }},
        {.name = "plan.aroundPins",
         .text = tr("&Optimise Around the Pins"),
         .shortcut = "Ctrl+Alt+O",
         .tip = tr("The cheapest plan that respects your pins"),
         .needs = Model,
         .run = [&parts] { parts.workbench.optimiseAroundPins(); }},
    });
    for (const base::Strategy rule : base::rules) {
        const std::string name = std::string("plan.") + base::nameOf(rule);
        book.add({.name = name.c_str(),
                  .text = tr(base::traitsOf(rule).action),
                  .tip = tr(base::traitsOf(rule).tip),
                  .needs = Model,
                  .run = [&parts, rule] { parts.workbench.setStrategy(rule); }});
    }
    book.addAll({
        {.name = "plan.clear",
         .text = tr("Remove All &Pins"),
         .shortcut = "Ctrl+Shift+Backspace",
         .tip = tr("Leave all decisions to the strategy"),
         .needs = Plan,
         .run = [&parts] { parts.workbench.clearPins(); }},
    });
}

void addPlanFiles(ActionBook& book, const WindowParts& parts, FileDialogs& dialogs)
{
    using enum Needs;
    book.addAll({
        {.name = "plan.load",
         .text = tr("&Load a Plan…"),
         .tip = tr("Use the cuts of a plan.json"),
         .needs = Model,
         .run =
             [&parts, &dialogs] {
                 dialogs.open(tr("Load a plan"), tr("Plans (*.json)"),
                              [&parts](const QString& file) { parts.workbench.loadPlan(file); });
             }},
        {.name = "plan.save",
         .text = tr("Sa&ve the Plan…"),
         .tip = tr("Write the plan to a plan.json"),
         .needs = Plan,
         .run =
             [&parts, &dialogs] {
                 dialogs.save(tr("Save the plan"), QStringLiteral("plan.json"), tr("Plans (*.json)"),
                              [&parts](const QString& file) { parts.workbench.savePlan(file); });
             }},
    });
}

}  // namespace

void addEditActions(ActionBook& book, const WindowParts& parts)
{
    QAction* undo = parts.workbench.undoStack().createUndoAction(&parts.window, tr("Undo"));
    undo->setObjectName(QStringLiteral("edit.undo"));
    undo->setShortcut(QKeySequence(QStringLiteral("Ctrl+Z")));
    undo->setStatusTip(tr("Undo the last change of the cuts"));
    QAction* redo = parts.workbench.undoStack().createRedoAction(&parts.window, tr("Redo"));
    redo->setObjectName(QStringLiteral("edit.redo"));
    redo->setShortcuts(QKeySequence::listFromString(QStringLiteral("Ctrl+Shift+Z; Ctrl+Y")));
    redo->setStatusTip(tr("Redo the change that was undone"));
    for (QAction* action : {undo, redo}) book.adopt(action, QStringLiteral("Edit"));
}

void addPlanActions(ActionBook& book, const WindowParts& parts, FileDialogs& dialogs)
{
    addStrategies(book, parts);
    addPlanFiles(book, parts, dialogs);
}

}  // namespace hopscope::window
