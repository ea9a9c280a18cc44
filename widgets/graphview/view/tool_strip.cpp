#include "graphview/view/tool_strip.h"

#include <QHBoxLayout>
#include <QMenu>

namespace hopscope::graphview {

ToolStrip::ToolStrip(GraphView& view) : Card(&view), m_view(view)
{
    setObjectName(QStringLiteral("graphStrip"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(6, 2, 6, 2);
    row->setSpacing(2);
}

void ToolStrip::fill(const QList<QAction*>& colours, const QList<QAction*>& folds)
{
    addMenu("graphColourButton", tr("Colour by"), colours);
    addMenu("graphFoldButton", tr("Fold"), folds);
    connect(addButton("graphFitButton", tr("Fit")), &QToolButton::clicked, &m_view.viewport(), &Viewport::fit);
    m_zoom = addButton("graphZoomButton", tr("%1 %").arg(100));
    connect(m_zoom, &QToolButton::clicked, this, [this] { m_view.viewport().zoomBy(1 / m_view.camera().scale); });
}

void ToolStrip::showZoom(qreal scale)
{
    m_zoom->setText(tr("%1 %").arg(qRound(scale * 100)));
    adjustSize();
}

QToolButton* ToolStrip::addButton(const char* name, const QString& text)
{
    auto* button = new QToolButton(this);
    button->setObjectName(QLatin1String(name));
    button->setText(text);
    button->setFont(detailFont());
    button->setAccessibleName(text);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::TabFocus);
    layout()->addWidget(button);
    return button;
}

void ToolStrip::addMenu(const char* name, const QString& text, const QList<QAction*>& actions)
{
    QToolButton* button = addButton(name, text + QStringLiteral(" \u25be"));
    button->setAccessibleName(text);
    auto* menu = new QMenu(button);
    menu->setToolTipsVisible(true);
    menu->addActions(actions);
    connect(button, &QToolButton::clicked, menu,
            [button, menu] { menu->popup(button->mapToGlobal(QPoint(0, -menu->sizeHint().height()))); });
}

}  // namespace hopscope::graphview
