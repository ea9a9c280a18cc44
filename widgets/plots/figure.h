#pragma once

// A plot or drawing that can be written to a file as a picture or as a table.

#include <QList>
#include <QPainter>
#include <QString>
#include <QStringList>
#include <QWidget>

namespace hopscope::plots {

class Legend;

class Figure {
public:
    virtual ~Figure() = default;
    [[nodiscard]] virtual QString figureTitle() const = 0;
    // Paints into a rectangle of `size` at the origin, as vectors if the painter's device supports them.
    virtual void paintFigure(QPainter& painter, const QSize& size) = 0;
    // Returns the legend of the colours; null if none is needed.
    [[nodiscard]] virtual const Legend* figureLegend() const { return nullptr; }
    // Returns a header line and rows as CSV; fields are quoted where necessary.
    [[nodiscard]] virtual QString csv() const = 0;
};

// Writes all figures, one below the other, in the format of the suffix: svg, pdf, png or csv. Returns an empty string,
// or the error.
QString exportFigures(const QList<Figure*>& figures, const QString& file);

// Returns problems with the labels of the visible plots below a widget, for tests of pictures: axis labels that touch,
// and texts in a plot that a line crosses or that overlap others.
QStringList crowdedLabels(const QWidget& parent);

// Returns a field of a CSV line (RFC 4180).
QString csvField(const QString& text);

}  // namespace hopscope::plots
