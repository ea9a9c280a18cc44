// Small marks on nodes: depth, what is stored inside, bookmarks, what a preview would move.

#include <QCoreApplication>
#include <QFontMetricsF>

#include "graphview/scene/scene_painter.h"

namespace hopscope::graphview {

namespace {

constexpr qreal badgeHeight = 16;

}  // namespace

void ScenePainter::paintBadge(int node)
{
    const VisibleNode& record = m_scene.graph.nodes[node];
    QString text = QString::number(record.depth);
    if (record.minDepth < record.depth) text.prepend(QString::number(record.minDepth) + QStringLiteral("\u2013"));
    const QRectF& rect = m_scene.nodes[node];
    const qreal width = std::max(badgeHeight, QFontMetricsF(smallFont()).horizontalAdvance(text) + 8);
    const qreal inset = record.shape == Shape::Gather ? 10 : 2;
    const QRectF badge(rect.right() - 8 - inset, rect.top() - badgeHeight / 2 + 1, width, badgeHeight);
    m_painter.setPen(QPen(m_theme.nodeBorder, 1));
    m_painter.setBrush(m_theme.panel);
    m_painter.drawRoundedRect(badge, badgeHeight / 2, badgeHeight / 2);
    m_painter.setFont(smallFont());
    m_painter.setPen(m_theme.text);
    m_painter.drawText(badge, Qt::AlignCenter, text);
}

void ScenePainter::paintInnerStores(int node)
{
    const QRectF& rect = m_scene.nodes[node];
    const QString text = QStringLiteral("\u00d7%1").arg(m_scene.innerStores[node]);
    const qreal width = QFontMetricsF(smallFont()).horizontalAdvance(text) + 26;
    const QRectF chip(rect.right() - width - 6, rect.bottom() - 3, width, 15);
    m_painter.setPen(QPen(m_theme.border, 1));
    m_painter.setBrush(m_theme.panel);
    m_painter.drawRoundedRect(chip, 7, 7);
    paintCylinder(m_painter, QRectF(chip.left() + 5, chip.top() + 2, 12, 11), m_theme);
    m_painter.setPen(m_theme.warning);
    m_painter.setFont(smallFont());
    m_painter.drawText(chip.adjusted(20, 0, 0, 0), Qt::AlignVCenter, text);
}

// A ribbon over the upper left corner.
void ScenePainter::paintBookmark(int node)
{
    const QPointF at = m_scene.nodes[node].topLeft() + QPointF(10, -5);
    const qreal width = 9, height = 16;
    m_painter.setPen(QPen(m_theme.panel, 1));
    m_painter.setBrush(m_theme.accent);
    m_painter.drawPolygon(QPolygonF{at, at + QPointF(width, 0), at + QPointF(width, height),
                                    at + QPointF(width / 2, height - 4), at + QPointF(0, height)});
}

void ScenePainter::paintExpander(int node)
{
    const QRectF box = expanderRect(m_scene.nodes[node]);
    const bool structure = m_scene.graph.nodes[node].prologue;
    const QColor colour = structure ? m_theme.structure : m_colouring.text[node];
    m_painter.setPen(QPen(colour, 1));
    m_painter.setBrush(Qt::NoBrush);
    m_painter.drawRoundedRect(box, 3, 3);
    m_painter.drawLine(box.center() - QPointF(3, 0), box.center() + QPointF(3, 0));
    m_painter.drawLine(box.center() - QPointF(0, 3), box.center() + QPointF(0, 3));
}

// The stage that a preview would have it in: beside its label, above what it takes from the prologue.
void ScenePainter::paintMove(int node)
{
    const QString text =
        QStringLiteral("\u2192 ") + QCoreApplication::translate("GraphScene", "Stage %1").arg(m_scene.moved[node]);
    const QRectF& rect = m_scene.nodes[node];
    const qreal width = QFontMetricsF(smallFont()).horizontalAdvance(text) + 10;
    const QRectF chip(rect.left() + 12 - width, rect.top() - badgeHeight / 2 - 1, width, badgeHeight);
    m_painter.setPen(QPen(m_theme.cut, 1));
    m_painter.setBrush(m_theme.panel);
    m_painter.drawRoundedRect(chip, 4, 4);
    m_painter.setFont(smallFont());
    m_painter.setPen(m_theme.warning);
    m_painter.drawText(chip, Qt::AlignCenter, text);
}

}  // namespace hopscope::graphview
