#include "plots/canvas.h"
#include "plots/figure.h"
#include "plots/label_place.h"

namespace hopscope::plots {

namespace {

// The begin and end of each label along the axis, in pixels.
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

// Texts in a plot, except those that follow the pointer.
QList<const QCPItemText*> textsIn(QCustomPlot& plot)
{
    QList<const QCPItemText*> found;
    for (int at = 0; at < plot.itemCount(); ++at) {
        const auto* text = qobject_cast<QCPItemText*>(plot.item(at));
        if (text != nullptr && text->realVisibility() && !text->text().isEmpty() &&
            text->layer()->name() != QLatin1String("overlay"))
            found.append(text);
    }
    return found;
}

// Its rectangle without padding.
QRectF wordsOf(const QCPItemText& text)
{
    const QRectF whole(text.topLeft->pixelPosition(), text.bottomRight->pixelPosition());
    return whole.marginsRemoved(QMarginsF(text.padding())).adjusted(1, 1, -1, -1);
}

void addLine(QList<QLineF>& lines, const QCPItemLine* line)
{
    if (line != nullptr) lines.append({line->start->pixelPosition(), line->end->pixelPosition()});
}

void addLine(QList<QLineF>& lines, const QCPItemStraightLine* line)
{
    if (line == nullptr) return;
    QLineF through(line->point1->pixelPosition(), line->point2->pixelPosition());
    through.setLength(std::max(1.0, through.length()) * 1e4);
    lines.append({through.p2(), through.p1() - (through.p2() - through.p1())});
}

void addCurve(QList<QLineF>& lines, const QCPGraph& graph)
{
    QPointF before;
    for (auto point = graph.data()->constBegin(); point != graph.data()->constEnd(); ++point) {
        const QPointF at = graph.coordsToPixels(point->key, point->value);
        if (point != graph.data()->constBegin()) lines.append({before, at});
        before = at;
    }
}

// The lines of the grid, of items and of curves, in pixels.
QList<QLineF> linesIn(QCustomPlot& plot)
{
    QList<QLineF> lines;
    const QRect inside = plot.axisRect()->rect();
    for (const double tick : plot.yAxis->grid()->visible() ? plot.yAxis->tickVector() : QVector<double>()) {
        const double y = plot.yAxis->coordToPixel(tick);
        lines.append(QLineF(inside.left(), y, inside.right(), y));
    }
    for (int at = 0; at < plot.itemCount(); ++at) {
        QCPAbstractItem* item = plot.item(at);
        if (!item->realVisibility() || item->layer()->name() == QLatin1String("overlay")) continue;
        addLine(lines, qobject_cast<QCPItemLine*>(item));
        addLine(lines, qobject_cast<QCPItemStraightLine*>(item));
    }
    for (int at = 0; at < plot.plottableCount(); ++at)
        if (const auto* graph = qobject_cast<QCPGraph*>(plot.plottable(at))) addCurve(lines, *graph);
    return lines;
}

QStringList coveredWords(QCustomPlot& plot)
{
    QStringList found;
    const QList<const QCPItemText*> texts = textsIn(plot);
    const QList<QLineF> lines = linesIn(plot);
    for (qsizetype at = 0; at < texts.size(); ++at) {
        const QRectF words = wordsOf(*texts[at]);
        if (std::ranges::any_of(lines, [&](const QLineF& line) { return crosses(line, words); }))
            found << QStringLiteral("%1: a line crosses \"%2\"").arg(plot.accessibleName(), texts[at]->text());
        for (qsizetype other = at + 1; other < texts.size(); ++other)
            if (words.intersects(wordsOf(*texts[other])))
                found << QStringLiteral("%1: \"%2\" and \"%3\" overlap")
                             .arg(plot.accessibleName(), texts[at]->text(), texts[other]->text());
    }
    return found;
}

}  // namespace

QStringList crowdedLabels(const QWidget& parent)
{
    QStringList found;
    for (QCustomPlot* plot : parent.findChildren<QCustomPlot*>()) {
        if (!plot->isVisible()) continue;
        found += coveredWords(*plot);
        for (const auto& [axis, name] : {std::pair{plot->xAxis, "x"}, std::pair{plot->yAxis, "y"}})
            if (touching(*axis))
                found << QStringLiteral("%1: labels of the %2 axis touch")
                             .arg(plot->accessibleName(), QLatin1String(name));
    }
    return found;
}

}  // namespace hopscope::plots
