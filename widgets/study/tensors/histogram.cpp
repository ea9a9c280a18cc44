#include "study/tensors/histogram.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "models/labels.h"
#include "study/tensors/heat_map.h"

namespace hopscope::study {

Histogram::Histogram(QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("tensorHistogram"));
    setAccessibleName(tr("Histogram"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void Histogram::display(const schema::Statistics& statistics)
{
    m_statistics = statistics;
    QStringList words;
    for (int part = 0; part < static_cast<int>(statistics.histogram.size()); ++part)
        if (statistics.histogram[static_cast<std::size_t>(part)] > 0) words << partText(part);
    setAccessibleDescription(words.join(QStringLiteral("; ")));
    update();
}

void Histogram::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    update();
}

QRectF Histogram::room() const { return QRectF(rect()).adjusted(1, 4, -1, -fontMetrics().height() - 5); }

// If all numbers are the same, the bins divide a range of one around them.
double Histogram::edge(int part) const
{
    const double least = m_statistics.least.value_or(0), most = m_statistics.most.value_or(0);
    const double first = least == most ? least - 0.5 : least, length = least == most ? 1 : most - least;
    return first + length * part / schema::histogramBins;
}

QString Histogram::partText(int part) const
{
    return tr("%1 to %2: %3")
        .arg(QString::number(edge(part), 'g', 4), QString::number(edge(part + 1), 'g', 4),
             models::formatCount(static_cast<double>(m_statistics.histogram[static_cast<std::size_t>(part)])));
}

// A bar that is not empty is always visible, however small it is.
QRectF Histogram::bar(int part) const
{
    const QRectF area = room();
    const auto most = static_cast<double>(std::ranges::max(m_statistics.histogram));
    const auto count = static_cast<double>(m_statistics.histogram[static_cast<std::size_t>(part)]);
    const qreal width = area.width() / schema::histogramBins;
    const qreal height = count > 0 ? std::max(2.0, area.height() * count / most) : 0;
    return {area.left() + part * width, area.bottom() - height, std::max(1.0, width - 1), height};
}

void Histogram::paintEvent(QPaintEvent*)
{
    if (m_statistics.histogram.size() != schema::histogramBins) return;
    QPainter painter(this);
    const double least = edge(0), most = edge(schema::histogramBins);
    for (int part = 0; part < schema::histogramBins; ++part) {
        const QRectF place = bar(part);
        if (place.height() <= 0) continue;
        painter.fillRect(place, heatColour(m_theme, (edge(part) + edge(part + 1)) / 2, least, most));
        painter.setPen(m_theme.border);
        painter.drawRect(place);
    }
    const QRectF area = room(), line(area.left(), area.bottom() + 3, area.width(), fontMetrics().height());
    painter.setPen(m_theme.border);
    painter.drawLine(area.bottomLeft(), area.bottomRight());
    painter.setPen(m_theme.textMuted);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, QString::number(least, 'g', 4));
    painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, QString::number(most, 'g', 4));
}

bool Histogram::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip || m_statistics.histogram.empty()) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const double share = (help->pos().x() - room().left()) / room().width();
    const int part = std::clamp(static_cast<int>(share * schema::histogramBins), 0, schema::histogramBins - 1);
    QToolTip::showText(help->globalPos(), partText(part), this);
    return true;
}

}  // namespace hopscope::study
