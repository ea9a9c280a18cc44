#include "graphview/view/tool_strip.h"

#include <QMenu>
#include <QPainter>

namespace hopscope::graphview {

ToolStrip::ToolStrip(GraphView& view, QWidget* parent)
    : QWidget(parent),
      m_view(view),
      m_rows(new QVBoxLayout(this)),
      m_row(new QHBoxLayout),
      m_legend(new Legend(this))
{
    setObjectName(QStringLiteral("graphStrip"));
    m_rows->setContentsMargins(6, 3, 6, 3);
    m_rows->setSpacing(0);
    m_rows->addLayout(m_row);
    m_row->setSpacing(2);
}

void ToolStrip::fill(const QList<QAction*>& colours, const QList<QAction*>& comparisons, const QList<QAction*>& folds)
{
    m_colour = addMenu("graphColourButton", tr("Depth"), colours);
    m_row->addSpacing(6);
    m_row->addWidget(m_legend, 1, Qt::AlignVCenter);
    m_row->addStretch(0);  // where the legend is not
    m_row->addSpacing(6);
    addMenu("graphCompareButton", tr("Compare"), comparisons);
    addMenu("graphFoldButton", tr("Fold"), folds);
    connect(addButton("graphFitButton", tr("Fit")), &QToolButton::clicked, &m_view.viewport(), &Viewport::fit);
    m_zoom = addButton("graphZoomButton", tr("%1 %").arg(400));
    m_zoom->setMinimumWidth(m_zoom->sizeHint().width());
    connect(m_zoom, &QToolButton::clicked, this, [this] { m_view.viewport().zoomBy(1 / m_view.camera().scale); });
}

int ToolStrip::roomBesideButtons() const
{
    int room = contentsRect().width();
    for (const QToolButton* button : findChildren<QToolButton*>())
        room -= button->sizeHint().width() + m_row->spacing();
    constexpr int around = 40;
    return room - around;
}

void ToolStrip::arrange()
{
    const bool above = m_legend->leastRow() > roomBesideButtons();
    if (above == m_above) return;
    m_above = above;
    m_row->removeWidget(m_legend);
    m_rows->removeWidget(m_legend);
    if (above) m_rows->insertWidget(0, m_legend);
    else m_row->insertWidget(2, m_legend, 1, Qt::AlignVCenter);
}

void ToolStrip::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    arrange();
}

void ToolStrip::showColour(const QString& mode)
{
    m_colour->setText(mode + QStringLiteral(" \u25be"));
    m_colour->setAccessibleName(tr("Colour by %1").arg(mode.toLower()));
    m_colour->setToolTip(m_colour->accessibleName());
}

void ToolStrip::showZoom(qreal scale) { m_zoom->setText(tr("%1 %").arg(qRound(scale * 100))); }

void ToolStrip::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    update();
}

void ToolStrip::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.panel);
    painter.setPen(QPen(m_theme.border, 1));
    painter.drawLine(0, 0, width(), 0);
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
    m_row->addWidget(button, 0, Qt::AlignTop);
    return button;
}

QToolButton* ToolStrip::addMenu(const char* name, const QString& text, const QList<QAction*>& actions)
{
    QToolButton* button = addButton(name, text + QStringLiteral(" \u25be"));
    button->setAccessibleName(text);
    auto* menu = new QMenu(button);
    menu->setToolTipsVisible(true);
    menu->addActions(actions);
    connect(button, &QToolButton::clicked, menu,
            [button, menu] { menu->popup(button->mapToGlobal(QPoint(0, -menu->sizeHint().height()))); });
    return button;
}

}  // namespace hopscope::graphview
