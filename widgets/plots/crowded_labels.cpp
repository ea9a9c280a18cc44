#include "plots/canvas.h"
#include "plots/figure.h"

namespace hopscope::plots {

namespace {

// Along the axis, in pixels: where each label begins and ends.
QVector<std::pair<double, double>> labelSpans(const QCPAxis& axis)
{
    const QFontMetrics metrics(axis.tickLabelFont());
    const bool across = axis.orientation() == Qt::Horizontal;
    QVector<std::pair<double, double>> spans;
    const QVector<double> places = axis.tickVector();
    const QVector<QString> labels = axis.tickVectorLabels();
    for (qsizetype at = 0; at < std::min(places.size(), labels.size()); ++at) {
        if (labels[at].isEmpty()) continue;
        const double middle = axis.coordToPixel(places[at]);
        const double half = (across ? metrics.horizontalAdvance(labels[at]) : metrics.ascent()) / 2.0;
        spans.emplace_back(middle - half, middle + half);
    }
    std::ranges::sort(spans);
    return spans;
}

bool touching(const QCPAxis& axis)
{
    constexpr double leastGap = 2;
    const auto touch = [](const auto& a, const auto& b) { return b.first < a.second + leastGap; };
    const auto spans = labelSpans(axis);
    return std::ranges::adjacent_find(spans, touch) != spans.end();
}

}  // namespace

QStringList crowdedLabels(const QWidget& parent)
{
    QStringList found;
    for (const QCustomPlot* plot : parent.findChildren<QCustomPlot*>()) {
        if (!plot->isVisible()) continue;
        for (const auto& [axis, name] : {std::pair{plot->xAxis, "x"}, std::pair{plot->yAxis, "y"}})
            if (touching(*axis))
                found << QStringLiteral("%1: labels of the %2 axis touch")
                             .arg(plot->accessibleName(), QLatin1String(name));
    }
    return found;
}

}  // namespace hopscope::plots
