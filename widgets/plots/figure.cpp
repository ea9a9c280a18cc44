#include "plots/figure.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QFileInfo>
#include <QImage>
#include <QPageSize>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <algorithm>

#include "plots/frame.h"

namespace hopscope::plots {

namespace {

constexpr QSize figureSize(900, 320);
constexpr int titleHeight = 28;
constexpr int margin = 12;

QSize pageSize(const QList<Figure*>& figures)
{
    const int rows = static_cast<int>(figures.size());
    return {figureSize.width() + 2 * margin, rows * (figureSize.height() + titleHeight) + 2 * margin};
}

// After the title, as far right as it fits.
void paintLegend(const Figure& figure, QPainter& painter, int top)
{
    const Legend* legend = figure.figureLegend();
    if (legend == nullptr) return;
    const int from = painter.fontMetrics().horizontalAdvance(figure.figureTitle()) + 24;
    const int room = figureSize.width() - from, wanted = std::min(legend->sizeHint().width(), room);
    painter.save();
    painter.translate(margin + figureSize.width() - wanted, top + 0.5 * (titleHeight - legend->fontMetrics().height()));
    legend->paintItems(painter, wanted);
    painter.restore();
}

void paintAll(const QList<Figure*>& figures, QPainter& painter)
{
    painter.fillRect(QRect({0, 0}, pageSize(figures)), qApp->palette().color(QPalette::Base));
    int top = margin;
    for (Figure* figure : figures) {
        QFont font = painter.font();
        font.setPixelSize(15);
        font.setBold(true);
        painter.setFont(font);
        painter.setPen(qApp->palette().color(QPalette::Text));
        painter.drawText(QRect(margin, top, figureSize.width(), titleHeight), Qt::AlignVCenter, figure->figureTitle());
        paintLegend(*figure, painter, top);
        painter.save();
        painter.translate(margin, top + titleHeight);
        figure->paintFigure(painter, figureSize);
        painter.restore();
        top += titleHeight + figureSize.height();
    }
}

QByteArray png(const QList<Figure*>& figures)
{
    constexpr int scale = 2;
    QImage image(pageSize(figures) * scale, QImage::Format_ARGB32_Premultiplied);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(scale, scale);
    paintAll(figures, painter);
    painter.end();
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    image.save(&buffer, "PNG");
    return buffer.data();
}

QByteArray svg(const QList<Figure*>& figures)
{
    QBuffer buffer;
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(pageSize(figures));
    generator.setViewBox(QRect({0, 0}, pageSize(figures)));
    QPainter painter(&generator);
    paintAll(figures, painter);
    painter.end();
    return buffer.data();
}

QByteArray pdf(const QList<Figure*>& figures)
{
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    writer.setResolution(96);
    writer.setPageMargins(QMarginsF());
    writer.setPageSize(QPageSize(QSizeF(pageSize(figures)) * 72 / 96, QPageSize::Point));
    QPainter painter(&writer);
    paintAll(figures, painter);
    painter.end();
    return buffer.data();
}

QByteArray csv(const QList<Figure*>& figures)
{
    QStringList parts;
    for (const Figure* figure : figures) parts << figure->csv();
    return parts.join(QLatin1Char('\n')).toUtf8();
}

QString save(const QByteArray& bytes, const QString& file)
{
    QSaveFile out(file);
    if (out.open(QIODevice::WriteOnly) && out.write(bytes) == bytes.size() && out.commit()) return {};
    return QCoreApplication::translate("Plots", "%1 cannot be written: %2").arg(file, out.errorString());
}

}  // namespace

QString csvField(const QString& text)
{
    const auto special = [](QChar c) { return c == u',' || c == u'"' || c == u'\n' || c == u'\r'; };
    if (std::none_of(text.begin(), text.end(), special)) return text;
    return QLatin1Char('"') + QString(text).replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
}

QString exportFigures(const QList<Figure*>& figures, const QString& file)
{
    const QString suffix = QFileInfo(file).suffix().toLower();
    if (suffix == QLatin1String("svg")) return save(svg(figures), file);
    if (suffix == QLatin1String("pdf")) return save(pdf(figures), file);
    if (suffix == QLatin1String("png")) return save(png(figures), file);
    if (suffix == QLatin1String("csv")) return save(csv(figures), file);
    return QCoreApplication::translate("Plots", "'%1' is not a picture format: use svg, pdf, png or csv").arg(suffix);
}

}  // namespace hopscope::plots
