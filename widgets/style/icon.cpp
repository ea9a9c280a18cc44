#include "style/icon.h"

#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

namespace hopscope::style {

namespace {

QByteArray drawing(const QString& name)
{
    QFile file(QStringLiteral(":/hopscope/icons/%1.svg").arg(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QPixmap paint(const QByteArray& svg, int side)
{
    QSvgRenderer renderer(svg);
    QPixmap pixmap(side, side);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    renderer.render(&painter);
    return pixmap;
}

void addSizes(QIcon& icon, QByteArray svg, const QColor& colour, QIcon::Mode mode)
{
    svg.replace("currentColor", colour.name().toLatin1());
    for (const int side : {16, 24, 32, 48, 64}) icon.addPixmap(paint(svg, side), mode);
}

}  // namespace

QIcon icon(const QString& name, const Theme& theme)
{
    QIcon result;
    const QByteArray svg = drawing(name);
    if (svg.isEmpty()) return result;
    addSizes(result, svg, theme.text, QIcon::Normal);
    addSizes(result, svg, theme.nodeBorder, QIcon::Disabled);
    return result;
}

QIcon applicationIcon()
{
    QIcon result;
    const QByteArray svg = drawing(QStringLiteral("org.hopscope.Hopscope"));
    for (const int side : {16, 24, 32, 48, 64, 128, 256}) result.addPixmap(paint(svg, side));
    return result;
}

}  // namespace hopscope::style
