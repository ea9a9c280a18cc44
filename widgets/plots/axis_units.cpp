#include "plots/axis_units.h"

#include <array>
#include <cmath>

#include "models/labels.h"

namespace hopscope::plots {

namespace {

struct Step {
    double factor;
    const char* suffix;
};
constexpr double kibi = 1024;
constexpr std::array seconds{Step{60, " min"}, Step{1, " s"}, Step{1e-3, " ms"}, Step{1e-6, " µs"}};
constexpr std::array bytes{Step{kibi * kibi * kibi * kibi, " TiB"}, Step{kibi * kibi * kibi, " GiB"},
                           Step{kibi * kibi, " MiB"}, Step{kibi, " KiB"}, Step{1, " B"}};
constexpr std::array counts{Step{1e9, " G"}, Step{1e6, " M"}, Step{1e3, " k"}, Step{1, ""}};

// The largest unit in which the number is at least `least`.
template <std::size_t N>
Scale choose(const std::array<Step, N>& steps, double largest, double least)
{
    const Step* found = &steps.back();
    for (const Step& step : steps)
        if (largest >= step.factor * least) {
            found = &step;
            break;
        }
    return {found->factor, QString::fromUtf8(found->suffix)};
}

}  // namespace

Scale scaleFor(double largest, Unit unit)
{
    switch (unit) {
    case Unit::Seconds:
        return largest >= 300 ? Scale{60, QStringLiteral(" min")} : choose(seconds, std::min(largest, 59.0), 1);
    case Unit::Bytes: return choose(bytes, largest, 1);
    case Unit::Count: break;
    }
    return largest < 1e4 ? Scale{1, {}} : choose(counts, largest, 1);
}

double tickStep(double lower, double upper, int count, const Scale& scale)
{
    const double raw = (upper - lower) / std::max(count, 1) / scale.factor;
    if (!(raw > 0) || !std::isfinite(raw)) return scale.factor;
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    for (const double nice : {1.0, 2.0, 5.0})
        if (raw <= nice * power * 1.0000001) return nice * power * scale.factor;
    return 10 * power * scale.factor;
}

QVector<double> ticks(double lower, double upper, double step)
{
    QVector<double> found;
    if (!(step > 0) || (upper - lower) / step > 1000) return found;
    for (double number = std::ceil(lower / step - 1e-9); number * step <= upper * (1 + 1e-12) + step * 1e-9;
         number += 1)
        found << number * step;
    return found;
}

QString tickLabel(double value, double step, const Scale& scale)
{
    const double shown = step / scale.factor;
    const int decimals = shown >= 1 ? 0 : std::min(6, static_cast<int>(std::ceil(-std::log10(shown) - 1e-9)));
    if (std::abs(value) < step * 1e-6) return QStringLiteral("0");
    return QString::number(value / scale.factor, 'f', decimals) + scale.suffix;
}

double growingEnd(double current, double needed)
{
    if (needed <= 0) return current > 0 ? current : 1;
    return current >= needed && current <= 3 * needed ? current : 1.25 * needed;
}

QString valueLabel(double value, Unit unit)
{
    switch (unit) {
    case Unit::Seconds: return models::formatSeconds(value);
    case Unit::Bytes: return models::formatBytes(value);
    case Unit::Count: break;
    }
    return models::formatCount(value);
}

}  // namespace hopscope::plots
