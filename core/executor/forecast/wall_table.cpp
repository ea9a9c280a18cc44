#include "executor/forecast/wall_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace hopscope::forecast {

using plan::WallKind;
using plan::WallRate;

namespace {

// Between two measured sizes by the logarithm of the size; beyond them the nearest one.
double between(const std::map<double, double>& known, double size)
{
    const auto above = known.lower_bound(size);
    if (above == known.end()) return known.rbegin()->second;
    if (above == known.begin()) return above->second;
    const auto below = std::prev(above);
    const double share = std::log(size / below->first) / std::log(above->first / below->first);
    return std::lerp(below->second, above->second, share);
}

}  // namespace

WallTable::WallTable(plan::Machine machine) : m_machine(std::move(machine)) {}

double WallTable::rate(WallKind kind, double otherwise) const
{
    const auto it = std::ranges::find(m_machine.walls, kind, &WallRate::kind);
    return it == m_machine.walls.end() ? otherwise : it->all;
}

double WallTable::stream(double bytes) const
{
    std::map<double, double> known;
    for (const WallRate& wall : m_machine.walls)
        if (wall.kind == WallKind::Stream) known[static_cast<double>(wall.bytes)] = wall.all;
    return known.empty() ? m_machine.elementwise : between(known, std::max(bytes, 1.0));
}

// Scales element types other than float32 by their gain or loss at the one shape at which they were measured.
double WallTable::gemm(double columns, double outputs, base::DType dtype) const
{
    std::map<double, std::map<double, double>> known;
    double here = 0, typical = 0;
    const auto sameShape = [&](const WallRate& a, const WallRate& b) {
        return a.kind == WallKind::Gemm && a.width == b.width && a.outputs == b.outputs;
    };
    for (const WallRate& wall : m_machine.walls) {
        if (wall.kind != WallKind::Gemm) continue;
        if (wall.dtype == base::DType::Float32)
            known[static_cast<double>(wall.width)][static_cast<double>(wall.outputs)] = wall.all;
        if (wall.dtype != dtype || dtype == base::DType::Float32) continue;
        here = wall.all;
        for (const WallRate& other : m_machine.walls)
            if (sameShape(other, wall) && other.dtype == base::DType::Float32) typical = other.all;
    }
    if (known.empty()) return m_machine.matmul;
    std::map<double, double> byColumns;
    for (const auto& [width, rates] : known) byColumns[width] = between(rates, std::max(outputs, 1.0));
    return between(byColumns, std::max(columns, 1.0)) * (here > 0 && typical > 0 ? here / typical : 1);
}

// Wider rows than any that were measured take longer in proportion, narrower ones as long as the narrowest.
double WallTable::secondsPerRow(WallKind kind, double tableBytes, double width) const
{
    std::map<double, double> known;
    for (const WallRate& wall : m_machine.walls)
        if (wall.kind == kind && static_cast<double>(wall.bytes) == tableBytes)
            known[static_cast<double>(wall.width)] = static_cast<double>(wall.width) / wall.all;
    const auto above = known.lower_bound(width);
    if (above == known.begin()) return above->second;
    if (above == known.end()) return known.rbegin()->second * width / known.rbegin()->first;
    const auto below = std::prev(above);
    return std::lerp(below->second, above->second, (width - below->first) / (above->first - below->first));
}

// A table that is larger than a cache is found there in part: the other rows account for the rest of the measured time.
std::vector<CacheLevel> WallTable::levels(WallKind kind, double width) const
{
    std::vector<double> tables;
    for (const WallRate& wall : m_machine.walls)
        if (wall.kind == kind) tables.push_back(static_cast<double>(wall.bytes));
    std::ranges::sort(tables);
    tables.erase(std::unique(tables.begin(), tables.end()), tables.end());
    std::vector<CacheLevel> found;
    double before = 0, cost = 0;  // of the level below
    for (const double bytes : tables) {
        double spent = 0, from = 0;
        for (const CacheLevel& level : found) spent += (level.bytes - from) / bytes * level.seconds, from = level.bytes;
        const double rest = (secondsPerRow(kind, bytes, width) - spent) / (1 - before / bytes);
        cost = std::max(cost, rest);
        found.push_back({bytes, cost});
        before = bytes;
    }
    const double rate = kind == WallKind::Rows ? m_machine.gather : m_machine.aggregate;
    if (found.empty()) found.push_back({0, width / rate});
    found.back().bytes = std::numeric_limits<double>::infinity();
    return found;
}

}  // namespace hopscope::forecast
