#pragma once

// The only header that includes QCustomPlot; only the sources of the plots include it. A canvas has the look of the
// window, whole-pixel pens, the axis labels of this project and one plot inside, which is not antialiased if it has
// more points than pixels.

#include <qcustomplot.h>

#include <limits>

#include "plots/axis_units.h"
#include "style/theme.h"

namespace hopscope::plots {

// Places labels with units, which follow from `unit` and the range. There are about `count` labels, or fewer if there
// is no room.
class UnitTicker : public QCPAxisTicker {
public:
    explicit UnitTicker(Unit unit, int count) : m_unit(unit), m_count(count), m_room(count) {}
    void setRoom(int labels) { m_room = std::max(2, labels); }
    void setLast(double tick) { m_last = tick; }  // no label is above it

protected:
    double getTickStep(const QCPRange& range) override
    {
        m_scale = scaleFor(std::max(std::abs(range.lower), std::abs(range.upper)), m_unit);
        m_step = tickStep(range.lower, range.upper, std::min(m_count, m_room), m_scale);
        return m_step;
    }
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override { return tickLabel(tick, m_step, m_scale); }
    QVector<double> createTickVector(double step, const QCPRange& range) override
    {
        QVector<double> all = ticks(range.lower, range.upper, step);
        erase_if(all, [this](double tick) { return tick > m_last; });
        return all;
    }

private:
    Unit m_unit;
    int m_count, m_room;
    double m_step = 1, m_last = std::numeric_limits<double>::infinity();
    Scale m_scale;
};

class Canvas : public QCustomPlot {
public:
    explicit Canvas(QWidget* parent) : QCustomPlot(parent)
    {
        setObjectName(QStringLiteral("canvas"));
        setPlottingHint(QCP::phFastPolylines, true);
        setNoAntialiasingOnDrag(true);
        xAxis->setTicker(QSharedPointer<QCPAxisTicker>(new UnitTicker(Unit::Seconds, 6)));
        for (QCPAxis* axis : {xAxis, yAxis}) {
            axis->setTickLength(0, 0);
            axis->setSubTicks(false);
            axis->setTickLabelPadding(6);
        }
        xAxis->grid()->setVisible(false);
        axisRect()->setMinimumMargins(QMargins(8, 8, 12, 4));
    }

    void setTheme(const style::Theme& theme)
    {
        setBackground(QBrush(theme.panel));
        for (QCPAxis* axis : {xAxis, yAxis}) {
            axis->setBasePen(axis == xAxis ? QPen(theme.border, 1) : QPen(Qt::NoPen));
            axis->setTickPen(Qt::NoPen);
            axis->setTickLabelColor(theme.textMuted);
            axis->setTickLabelFont(smallFont());
            axis->grid()->setPen(QPen(theme.border, 1));
            axis->grid()->setZeroLinePen(Qt::NoPen);
        }
    }

    [[nodiscard]] QFont smallFont() const
    {
        QFont small = font();
        small.setPointSizeF(std::max(7.0, small.pointSizeF() * 0.9));
        return small;
    }

    void paintInto(QPainter& painter, const QSize& size)
    {
        QPicture picture;
        QCPPainter recorder(&picture);
        recorder.setMode(QCPPainter::pmVectorized);
        recorder.setMode(QCPPainter::pmNoCaching);
        toPainter(&recorder, size.width(), size.height());
        recorder.end();
        painter.drawPicture(0, 0, picture);
    }

protected:
    void resizeEvent(QResizeEvent* event) override
    {
        const QFontMetrics metrics(smallFont());
        const auto fit = [](const QCPAxis& axis, int room) {
            if (const auto ticker = axis.ticker().dynamicCast<UnitTicker>()) ticker->setRoom(room);
        };
        fit(*xAxis, (event->size().width() - margins) / metrics.horizontalAdvance(QStringLiteral("1,000.0 ms  ")));
        fit(*yAxis, event->size().height() / (2 * metrics.height()));
        QCustomPlot::resizeEvent(event);
    }

private:
    static constexpr int margins = 70;  // about the width of the other axis's labels
};

}  // namespace hopscope::plots
