#pragma once

// Random segment problems and a judge that knows nothing of vectors: one float at a time, in edge order.

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/segment.h"

namespace segment_case {

using hopscope::kernels::Combine;
using hopscope::kernels::SegmentArguments;

struct Case {
    std::uint64_t seed = 0;
    std::vector<std::int64_t> offsets, columns;
    std::vector<float> weight, source, out;
    SegmentArguments arguments;  // pointers into the vectors above

    Case() = default;
    Case(const Case&) = delete;
};

inline float awkwardFloat(std::mt19937_64& random, bool special)
{
    const auto pick = random() % 40;
    if (special && pick == 0) return std::numeric_limits<float>::quiet_NaN();
    if (special && pick == 1) return std::numeric_limits<float>::infinity();
    if (special && pick == 2) return -std::numeric_limits<float>::infinity();
    if (pick == 3) return -0.0f;
    return std::normal_distribution<float>(0, 3)(random);
}

inline void makeOffsets(Case& c, std::mt19937_64& random)
{
    const auto destinations = static_cast<std::int64_t>(random() % 30);
    c.offsets = {static_cast<std::int64_t>(random() % 3)};
    for (std::int64_t d = 0; d < destinations; ++d) {
        const bool hub = random() % 20 == 0;
        c.offsets.push_back(c.offsets.back() + static_cast<std::int64_t>(random() % (hub ? 300 : 6)));
    }
}

inline void fill(std::vector<float>& values, std::int64_t count, std::mt19937_64& random, bool special)
{
    values.resize(static_cast<std::size_t>(count));
    for (float& value : values) value = awkwardFloat(random, special);
}

inline void makeCase(Case& c, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    c.seed = seed;
    SegmentArguments& a = c.arguments;
    makeOffsets(c, random);
    const bool special = seed % 4 == 3;
    const std::int64_t positions = c.offsets.back();
    a.heads = static_cast<std::int64_t>(random() % 4) + 1;
    a.width = a.heads * static_cast<std::int64_t>(random() % 2 != 0 ? random() % 12 + 1 : random() % 150 + 1);
    a.sourceStride = a.width + static_cast<std::int64_t>(random() % 3 == 0 ? random() % 5 : 0);
    const bool picked = random() % 4 != 0;
    const auto rows = picked ? static_cast<std::int64_t>(random() % 50 + 1) : positions;
    c.columns.resize(static_cast<std::size_t>(picked ? positions : 0));
    for (std::int64_t& column : c.columns)
        column = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows));
    fill(c.source, std::max<std::int64_t>(rows, 1) * a.sourceStride, random, special);
    if (random() % 3 != 0) fill(c.weight, positions * a.heads, random, special);
    a.destinations = static_cast<std::int64_t>(c.offsets.size()) - 1;
    a.combine = static_cast<Combine>(random() % 4);
    a.accumulate = a.combine == Combine::Sum && random() % 2 == 0;
    a.empty = random() % 2 == 0 ? 0.0f : -7.5f;
    fill(c.out, a.destinations * a.width, random, false);
    a.offsets = c.offsets.data();
    a.columns = picked ? c.columns.data() : nullptr;
    a.weight = c.weight.empty() ? nullptr : c.weight.data();
    a.source = c.source.data();
    a.out = c.out.data();
}

inline std::string describe(const Case& c)
{
    std::ostringstream text;
    const SegmentArguments& a = c.arguments;
    text << "seed " << c.seed << ": " << a.destinations << " destinations, width " << a.width << ", heads " << a.heads
         << ", stride " << a.sourceStride << ", combine " << static_cast<int>(a.combine)
         << (a.accumulate ? ", accumulate" : "") << (a.columns != nullptr ? ", picked" : ", in order")
         << (a.weight != nullptr ? ", weighted" : "");
    return text.str();
}

template <class Number>
Number combineOne(Combine combine, Number best, Number value)
{
    if (std::isnan(best) || std::isnan(value)) return std::numeric_limits<Number>::quiet_NaN();
    if (combine == Combine::Max) return value > best ? value : best;
    if (combine == Combine::Min) return value < best ? value : best;
    volatile Number sum = best + value;
    return sum;
}

// One element of the result. Number float: the very roundings; double: the true value.
template <class Number>
Number expected(const Case& c, std::int64_t d, std::int64_t column)
{
    const SegmentArguments& a = c.arguments;
    const std::int64_t begin = c.offsets[static_cast<std::size_t>(d)], end = c.offsets[static_cast<std::size_t>(d) + 1];
    const Number before = c.out[static_cast<std::size_t>(d * a.width + column)];
    if (begin == end) return a.accumulate ? before : static_cast<Number>(a.empty);
    const Number infinity = std::numeric_limits<Number>::infinity();
    Number result = a.combine == Combine::Max   ? -infinity
                    : a.combine == Combine::Min ? infinity
                    : a.accumulate              ? before
                                                : Number(0);
    for (std::int64_t p = begin; p < end; ++p) {
        const std::int64_t row = c.columns.empty() ? p : c.columns[static_cast<std::size_t>(p)];
        volatile Number value = c.source[static_cast<std::size_t>(row * a.sourceStride + column)];
        if (!c.weight.empty())
            value = Number(c.weight[static_cast<std::size_t>(p * a.heads + column / (a.width / a.heads))]) * value;
        result = combineOne<Number>(a.combine, result, value);
    }
    return a.combine == Combine::Mean ? result / static_cast<Number>(end - begin) : result;
}

template <class Number>
std::vector<Number> expectedAll(const Case& c)
{
    std::vector<Number> all;
    for (std::int64_t d = 0; d < c.arguments.destinations; ++d)
        for (std::int64_t column = 0; column < c.arguments.width; ++column)
            all.push_back(expected<Number>(c, d, column));
    return all;
}

// Equal bits, but for the payload of NaN and the sign of a zero that Max or Min chose.
inline bool sameBits(Combine combine, float a, float b)
{
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (combine == Combine::Max || combine == Combine::Min) return a == b;
    return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace segment_case
