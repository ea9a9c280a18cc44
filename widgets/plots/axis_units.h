#pragma once

// Readable numbers on axes: pure functions.

#include <QString>
#include <QVector>

namespace hopscope::plots {

enum class Unit { Seconds, Bytes, Count };

// The unit for numbers up to `largest`: 1024 KiB, 0.001 ms, ...
struct Scale {
    double factor = 1;  // of one shown unit
    QString suffix;     // " MiB"; " " and the unit, or empty
};
Scale scaleFor(double largest, Unit unit);

// A step of 1, 2 or 5 times a power of ten of the scale's unit, so that about `count` of them fill the range.
double tickStep(double lower, double upper, int count, const Scale& scale);
// Multiples of the step inside the range.
QVector<double> ticks(double lower, double upper, double step);
// "1.5 MiB"; as many decimals as the step needs.
QString tickLabel(double value, double step, const Scale& scale);

// A stable upper end for a growing axis: the current one while it holds `needed` and is not more than three
// times as large, else 1.25 times `needed`.
double growingEnd(double current, double needed);

// A number with its unit: "4.71 GiB", "1.2 s", "2,708".
QString valueLabel(double value, Unit unit);

}  // namespace hopscope::plots
