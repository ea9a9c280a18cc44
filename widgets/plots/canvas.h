#pragma once

// The only header that includes QCustomPlot; included by the plots' sources only. A canvas with the window's look,
// whole-pixel pens, our axis labels and one plot inside; not antialiased if there are more points than pixels.

#include <qcustomplot.h>

#include "plots/axis_units.h"
#include "style/theme.h"

namespace hopscope::plots {

// Labels with units; `unit` and the range decide.
class UnitTicker : public QCPAxisTicker {
public:
    explicit UnitTicker(Unit unit, int count) : m_unit(unit), m_count(count) {}

protected:
    double getTickStep(const QCPRange& range) override
    {
        m_scale = scaleFor(std::max(std::abs(range.lower), std::abs(range.upper)), m_unit);
        m_step = tickStep(range.lower, range.upper, m_count, m_scale);
        return m_step;
    }
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override { return tickLabel(tick, m_step, m_scale); }
    QVector<double> createTickVector(double step, const QCPRange& range) override
    {
        return ticks(range.lower, range.upper, step);
    }

private:
    Unit m_unit;
    int m_count;
    double m_step = 1;
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
};

}  // namespace hopscope::plots
