#pragma once

// Finds positions for labels that no line crosses.

#include <QLineF>
#include <QList>
#include <QRectF>

namespace hopscope::plots {

bool crosses(const QLineF& line, const QRectF& words);

// Returns the first position that no line crosses and no other label takes, or the first of all if there is none. At
// least one position is required.
QRectF clearPlace(const QList<QRectF>& places, const QList<QLineF>& lines, const QList<QRectF>& taken = {});

// Returns the lines between successive points.
QList<QLineF> linesBetween(const QList<QPointF>& points);

}  // namespace hopscope::plots
