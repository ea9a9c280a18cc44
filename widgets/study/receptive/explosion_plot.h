#pragma once

// Plots the neighbour explosion of a graph: the average number of rows that a result depends on, hop by hop back to the
// inputs, on a logarithmic scale, compared with the one row that a layer-wise run computes for it.

#include <QWidget>

#include "schema/receptive_field.h"
#include "style/theme.h"

namespace hopscope::study {

class ExplosionPlot : public QWidget {
    Q_OBJECT
public:
    explicit ExplosionPlot(QWidget* parent = nullptr);
    void display(const schema::ReceptiveField& field);  // its averages
    void setTheme(const style::Theme& theme);
    // Returns the rectangles of the labels on the widget: the numbers of all points and, last, the label of the line.
    // obstacles() returns the lines that must not cross them.
    [[nodiscard]] QList<QRectF> labels() const;
    [[nodiscard]] QList<QLineF> obstacles() const;
    [[nodiscard]] QSize sizeHint() const override { return {360, 190}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {200, 170}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Point {
        QString name;  // of the hop
        double mean = 0, error = 0, of = 0;
    };
    [[nodiscard]] QRectF room() const;
    [[nodiscard]] QString layerwise() const { return tr("computed layer by layer"); }
    [[nodiscard]] QList<double> scale() const;       // numbers of rows with a grid line
    [[nodiscard]] QLineF lineOf(double rows) const;  // the grid line of a number of rows
    [[nodiscard]] QPolygonF curve() const;
    [[nodiscard]] QPointF place(std::size_t point, double rows) const;
    void paintAxes(QPainter& painter) const;
    void paintCurve(QPainter& painter, const QList<QRectF>& places) const;
    void paintLayerwise(QPainter& painter, const QRectF& words) const;

    std::vector<Point> m_points;  // from the result to the inputs
    double m_most = 10;
    style::Theme m_theme;
};

}  // namespace hopscope::study
