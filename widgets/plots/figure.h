#pragma once

// Anything that can be written to a file as a picture or as a table.

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
    // Paints into a rectangle of that size at the origin, as vectors where the painter's device takes them.
    virtual void paintFigure(QPainter& painter, const QSize& size) = 0;
    // What its colours mean; null: nothing that needs words.
    [[nodiscard]] virtual const Legend* figureLegend() const { return nullptr; }
    // Header line and rows, separated by commas; every field that may contain one is quoted.
    [[nodiscard]] virtual QString csv() const = 0;
};

// All figures, one below the other; by the file's suffix svg, pdf, png or csv. Returns an empty string, or why not.
QString exportFigures(const QList<Figure*>& figures, const QString& file);

// What is wrong with the labels of all plots below a widget: those of an axis that touch, words in a plot that a line crosses or
// that lie over others. For tests of pictures.
QStringList crowdedLabels(const QWidget& parent);

// A field of a CSV line (RFC 4180).
QString csvField(const QString& text);

}  // namespace hopscope::plots
