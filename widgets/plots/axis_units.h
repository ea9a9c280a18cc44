#pragma once

// Chooses readable numbers for axes. The functions are pure.

#include <QString>
#include <QVector>

namespace hopscope::plots {

enum class Unit { Seconds, Bytes, Count };

// The unit for numbers up to a largest one: 1024 KiB, 0.001 ms, ...
struct Scale {
    double factor = 1;  // of one shown unit
    QString suffix;     // " MiB"; " " and the unit, or empty
};
Scale scaleFor(double largest, Unit unit);

// Returns a step of 1, 2 or 5 times a power of ten of the scale's unit, such that about `count` steps fill the range.
double tickStep(double lower, double upper, int count, const Scale& scale);
// Returns the multiples of the step inside the range.
QVector<double> ticks(double lower, double upper, double step);
// Returns "1.5 MiB", with as many decimals as the step needs.
QString tickLabel(double value, double step, const Scale& scale);

// Returns a stable upper end for a growing axis: the current end if it holds `needed` and is at most three times as
// large, otherwise 1.25 times `needed`.
double growingEnd(double current, double needed);

// Returns a number with its unit: "4.71 GiB", "1.2 s", "2,708".
QString valueLabel(double value, Unit unit);

}  // namespace hopscope::plots
