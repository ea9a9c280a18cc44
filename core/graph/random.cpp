#include "graph/random.h"

#include <bit>
#include <cmath>

namespace hopscope::graph {

namespace {

// Natural logarithm for 0 < x < 1 from basic operations alone: libraries differ in the last bit. With x = m 2^e and
// s = (m - 1) / (m + 1), ln m = 2 (s + s^3/3 + s^5/5 + ...); |s| < 0.172 makes eleven terms exact to double precision.
double naturalLog(double x)
{
    int exponent = 0;
    double mantissa = std::frexp(x, &exponent);
    if (mantissa < 0.70710678118654752) {
        mantissa *= 2;
        --exponent;
    }
    const double s = (mantissa - 1) / (mantissa + 1), square = s * s;
    double sum = 0;
    for (int term = 21; term >= 1; term -= 2) sum = sum * square + 1.0 / term;
    return 2 * s * sum + exponent * 0.69314718055994531;
}

double centralQuantile(double q)
{
    const double r = 0.180625 - q * q;
    return q * (((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179) /
           (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1.0);
}

// The quantile of the lower tail with probability `p`, as a positive distance from zero.
double tailQuantile(double p)
{
    double r = std::sqrt(-naturalLog(p));
    if (r <= 5) {
        r -= 1.6;
        return (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777) /
               ((0.12021132975 * r + 0.73700164250) * r + 1.0);
    }
    r -= 5;
    return (((0.017337203997 * r + 0.42868294337) * r + 3.0812263860) * r + 6.6579051150) /
           ((0.012258202635 * r + 0.24197894225) * r + 1.0);
}

}  // namespace

float normalFromWord(std::uint32_t word)
{
    const double p = (static_cast<double>(word) + 0.5) * 0x1p-32;
    const double q = p - 0.5;
    if (std::abs(q) <= 0.425) return static_cast<float>(centralQuantile(q));
    return static_cast<float>(q < 0 ? -tailQuantile(p) : tailQuantile(1 - p));
}

Permutation::Permutation(std::int64_t n, std::uint64_t key) : m_n(static_cast<std::uint64_t>(n)), m_key(key)
{
    const auto bits = static_cast<unsigned>(std::bit_width(m_n > 1 ? m_n - 1 : 1));
    m_half = (bits + 1) / 2;
}

std::uint64_t Permutation::network(std::uint64_t id) const
{
    const std::uint64_t mask = (std::uint64_t{1} << m_half) - 1;
    std::uint64_t left = id >> m_half, right = id & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
        const std::uint64_t mixed = (left ^ scatter(m_key + right * kGolden + round)) & mask;
        left = right;
        right = mixed;
    }
    return left << m_half | right;
}

std::int64_t Permutation::operator()(std::int64_t id) const
{
    auto place = static_cast<std::uint64_t>(id);
    do place = network(place);
    while (place >= m_n);
    return static_cast<std::int64_t>(place);
}

}  // namespace hopscope::graph
