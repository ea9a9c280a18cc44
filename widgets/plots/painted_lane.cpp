#include "plots/painted_lane.h"

#include <QImage>

namespace hopscope::plots {

void PaintedLane::append(const Interval& interval)
{
    if (!m_lane.intervals().empty() && interval.start < m_lane.intervals().back().start) m_counted = 0;
    m_lane.append(interval);
}

void PaintedLane::clear()
{
    m_lane.clear();
    m_counted = 0;
}

bool PaintedLane::isSparse(const TimeRange& range, int pixels) const
{
    const auto [first, last] = m_lane.within(range.first, range.second);
    return last - first <= static_cast<std::size_t>(pixels) / 3;
}

// Paints one row of pixels, stretched over the lane's height.
void PaintedLane::paintCoverage(QPainter& painter, const QRect& rect, const TimeRange& range, const QColor& colour)
{
    const auto [from, to] = range;
    const std::vector<Interval>& all = m_lane.intervals();
    if (!m_coverage.covers(from, to, rect.width()) || m_counted == 0 || m_counted > all.size()) {
        m_coverage.reset(from, to, rect.width());
        m_counted = m_lane.within(from, to).first;
    }
    const std::size_t last = m_lane.within(from, to).second;
    for (; m_counted < last; ++m_counted) m_coverage.add(all[m_counted]);
    QImage row(rect.width(), 1, QImage::Format_ARGB32);
    for (int x = 0; x < rect.width(); ++x) {
        const float covered = m_coverage.pixels()[static_cast<std::size_t>(x)];
        const int alpha = covered <= 0 ? 0 : static_cast<int>(60 + 195 * covered);
        row.setPixel(x, 0, qRgba(colour.red(), colour.green(), colour.blue(), alpha));
    }
    painter.drawImage(rect, row);
}

void paintNumber(QPainter& painter, const QRectF& bar, const QColor& colour, std::int64_t number,
                 const style::Theme& theme)
{
    const QString text = QString::number(number);
    if (painter.fontMetrics().horizontalAdvance(text) + 2 > bar.width()) return;
    const bool dark = style::contrast(theme.text, colour) >= style::contrast(theme.accentText, colour);
    painter.setPen(dark ? theme.text : theme.accentText);
    painter.drawText(bar, Qt::AlignCenter, text);
}

}  // namespace hopscope::plots
