#include "study/animation/animation_layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace hopscope::study {

namespace {

constexpr int rounds = 400;
constexpr double gravity = 0.3;  // keeps unconnected nodes together
constexpr int spreadRounds = 60;
constexpr double leastDistance = 0.6;  // between nodes, as a share of the spacing in a grid
constexpr double hottest = 0.12;       // how far a node may move in the first round

using Places = std::vector<QPointF>;
using Pairs = std::set<std::pair<std::size_t, std::size_t>>;

// A spiral: no two places are the same, and no direction is preferred.
Places spiral(std::size_t count)
{
    const double golden = std::numbers::pi * (3 - std::sqrt(5.0));
    Places places;
    for (std::size_t i = 0; i < count; ++i) {
        const auto number = static_cast<double>(i);
        const double radius = 0.5 * std::sqrt((number + 0.5) / static_cast<double>(count));
        places.emplace_back(radius * std::cos(number * golden), radius * std::sin(number * golden));
    }
    return places;
}

double lengthOf(const QPointF& vector) { return std::max(1e-6, std::hypot(vector.x(), vector.y())); }

Pairs joined(const Animation& animation)
{
    Pairs pairs;
    for (const DrawnEdge& edge : animation.edges)
        if (edge.from >= 0 && edge.from != edge.to)
            pairs.insert(std::minmax(static_cast<std::size_t>(edge.from), static_cast<std::size_t>(edge.to)));
    return pairs;
}

Places forcesOn(const Places& places, const Pairs& pairs, double ideal)
{
    Places forces(places.size());
    for (std::size_t a = 0; a < places.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            const QPointF apart = places[a] - places[b];
            const double length = lengthOf(apart);
            const QPointF push = apart * (ideal * ideal / (length * length));
            forces[a] += push;
            forces[b] -= push;
        }
        forces[a] -= places[a] * gravity;
    }
    for (const auto& [a, b] : pairs) {
        const QPointF apart = places[a] - places[b];
        const QPointF pull = apart * (lengthOf(apart) / ideal);
        forces[a] -= pull;
        forces[b] += pull;
    }
    return forces;
}

// Fills the square in both directions.
void fit(Places& places)
{
    if (places.empty()) return;
    const auto [left, right] = std::ranges::minmax(places, {}, [](const QPointF& p) { return p.x(); });
    const auto [top, bottom] = std::ranges::minmax(places, {}, [](const QPointF& p) { return p.y(); });
    const double x = left.x(), y = top.y(), wide = right.x() - x, high = bottom.y() - y;
    for (QPointF& place : places) {
        place.setX(wide > 1e-9 ? (place.x() - x) / wide : 0.5);
        place.setY(high > 1e-9 ? (place.y() - y) / high : 0.5);
    }
}

// Moves nodes apart that would cover each other, and keeps them in the square.
void spread(Places& places)
{
    const double least = leastDistance / std::sqrt(std::max(1.0, static_cast<double>(places.size())));
    for (int round = 0; round < spreadRounds; ++round)
        for (std::size_t a = 0; a < places.size(); ++a)
            for (std::size_t b = 0; b < a; ++b) {
                const QPointF apart = places[a] - places[b];
                const double length = lengthOf(apart);
                if (length >= least) continue;
                const QPointF push = apart * ((least - length) / (2 * length));
                const auto within = [](const QPointF& p) {
                    return QPointF(std::clamp(p.x(), 0.0, 1.0), std::clamp(p.y(), 0.0, 1.0));
                };
                places[a] = within(places[a] + push);
                places[b] = within(places[b] - push);
            }
}

}  // namespace

Places placeNodes(const Animation& animation)
{
    Places places = spiral(animation.nodes.size());
    const Pairs pairs = joined(animation);
    const double ideal = 0.9 / std::sqrt(std::max(1.0, static_cast<double>(places.size())));
    for (int round = 0; round < rounds; ++round) {
        const double heat = hottest * (1 - static_cast<double>(round) / rounds);
        const Places forces = forcesOn(places, pairs, ideal);
        for (std::size_t i = 0; i < places.size(); ++i)
            places[i] += forces[i] * std::min(1.0, heat / lengthOf(forces[i]));
    }
    fit(places);
    spread(places);
    return places;
}

}  // namespace hopscope::study
