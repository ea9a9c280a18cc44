#pragma once

// Where a label can be read: no line crosses it.

#include <QLineF>
#include <QList>
#include <QRectF>

namespace hopscope::plots {

bool crosses(const QLineF& line, const QRectF& words);

// The first of the places that no line crosses and nothing else takes; the first of all, where there is none. At least one place.
QRectF clearPlace(const QList<QRectF>& places, const QList<QLineF>& lines, const QList<QRectF>& taken = {});

// The lines between points in a row.
QList<QLineF> linesBetween(const QList<QPointF>& points);

}  // namespace hopscope::plots
