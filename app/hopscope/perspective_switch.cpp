#include "perspective_switch.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QResizeEvent>

#include "actions.h"

namespace hopscope::window {

PerspectiveSwitch::PerspectiveSwitch(const QList<QAction*>& perspectives, QMenuBar& bar) : QWidget(&bar), m_bar(bar)
{
    setObjectName(QStringLiteral("perspectives"));
    setAccessibleName(tr("Perspectives"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 2, 10, 2);
    row->setSpacing(6);
    for (QAction* perspective : perspectives) {
        m_buttons.append(buttonFor(perspective));
        row->addWidget(m_buttons.last());
    }
    m_list = listOf(perspectives);
    m_list->hide();
    row->addWidget(m_list);
    bar.installEventFilter(this);
}

QPushButton* PerspectiveSwitch::buttonFor(QAction* perspective)
{
    auto* button = new QPushButton(plainText(perspective), this);
    button->setObjectName(QStringLiteral("perspective.%1").arg(perspective->data().toString()));
    button->setAccessibleName(tr("Perspective %1").arg(plainText(perspective)));
    button->setCheckable(true);
    button->setChecked(perspective->isChecked());
    button->setToolTip(perspective->toolTip());
    connect(button, &QPushButton::clicked, perspective, &QAction::trigger);
    connect(perspective, &QAction::toggled, button, &QPushButton::setChecked);
    return button;
}

// Its text is the current perspective.
QToolButton* PerspectiveSwitch::listOf(const QList<QAction*>& perspectives)
{
    auto* list = new QToolButton(this);
    list->setObjectName(QStringLiteral("perspectiveList"));
    list->setAccessibleName(tr("Perspective"));
    list->setToolTip(tr("Arrange the panels for another task"));
    list->setPopupMode(QToolButton::InstantPopup);
    list->setFocusPolicy(Qt::TabFocus);
    auto* menu = new QMenu(list);
    menu->setObjectName(QStringLiteral("menu.perspectives"));
    menu->addActions(perspectives);
    list->setMenu(menu);
    for (QAction* perspective : perspectives) {
        const auto name = [list, perspective] {
            if (perspective->isChecked()) list->setText(plainText(perspective) + QStringLiteral(" \u25be"));
        };
        connect(perspective, &QAction::toggled, list, name);
        name();
    }
    return list;
}

// Runs before the bar itself takes its new size.
bool PerspectiveSwitch::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == &m_bar && event->type() == QEvent::Resize)
        makeRoom(static_cast<QResizeEvent*>(event)->size().width());
    return QWidget::eventFilter(watched, event);
}

void PerspectiveSwitch::makeRoom(int width)
{
    QRect menus;
    for (const QAction* menu : m_bar.actions()) menus |= m_bar.actionGeometry(const_cast<QAction*>(menu));
    const QMargins margins = layout()->contentsMargins();
    int buttons = margins.left() + margins.right() + menus.x();
    for (const QPushButton* button : m_buttons) buttons += button->sizeHint().width() + layout()->spacing();
    const bool fits = menus.width() + buttons <= width;
    for (QPushButton* button : m_buttons) button->setVisible(fits);
    m_list->setVisible(!fits);
    layout()->activate();  // the bar asks for its size next
}

}  // namespace hopscope::window
