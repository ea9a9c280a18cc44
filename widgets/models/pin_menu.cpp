#include "models/pin_menu.h"

#include "models/labels.h"

namespace hopscope::models {

namespace {

QMenu& groupIn(QMenu& menu, const QString& group)
{
    if (group.isEmpty()) return menu;
    for (QAction* action : menu.actions())
        if (action->menu() != nullptr && action->text() == group) return *action->menu();
    QMenu* added = menu.addMenu(group);
    added->setObjectName(QStringLiteral("pinGroup"));
    added->setToolTipsVisible(true);
    return *added;
}

}  // namespace

void addPinChoices(QMenu& menu, const std::vector<PinChoice>& choices,
                   const std::function<void(const plan::Pin&)>& toggle)
{
    menu.setToolTipsVisible(true);
    for (const PinChoice& choice : choices) {
        QString name = QStringLiteral("pin.") + QLatin1String(base::nameOf(choice.pin.kind));
        if (choice.pin.stage.valid()) name += QStringLiteral(".%1").arg(choice.pin.stage.number);
        QAction* action = groupIn(menu, choice.group).addAction(choice.text);
        action->setObjectName(name);
        action->setToolTip(choice.tip);
        action->setStatusTip(choice.tip);
        action->setCheckable(true);
        action->setChecked(choice.chosen);
        action->setEnabled(choice.possible);
        QObject::connect(action, &QAction::triggered, &menu, [toggle, pin = choice.pin] { toggle(pin); });
    }
}

}  // namespace hopscope::models
