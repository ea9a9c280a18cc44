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
    // Paints into a rectangle of that size at the origin, as vectors if the painter's device supports them.
    virtual void paintFigure(QPainter& painter, const QSize& size) = 0;
    // The legend of its colours; null: it needs none.
    [[nodiscard]] virtual const Legend* figureLegend() const { return nullptr; }
    // Header line and rows, separated by commas; every field that may contain one is quoted.
    [[nodiscard]] virtual QString csv() const = 0;
};

// All figures, one below the other; by the file's suffix svg, pdf, png or csv. Returns an empty string, or the error.
QString exportFigures(const QList<Figure*>& figures, const QString& file);

// Problems with the labels of all plots below a widget: axis labels that touch, texts in a plot that a line crosses or
// that overlap others. For tests of pictures.
QStringList crowdedLabels(const QWidget& parent);

// A field of a CSV line (RFC 4180).
QString csvField(const QString& text);

}  // namespace hopscope::plots
