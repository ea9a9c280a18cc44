#include "kernels/segment_case.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>

namespace segment_case {

using hopscope::kernels::kPiece;

namespace {

struct Format {
    int mantissa, bias;
};

Format formatOf(Element element) { return element == Element::Float16 ? Format{10, 15} : Format{7, 127}; }

using Random = std::mt19937_64;

std::int64_t below(Random& random, std::int64_t bound)
{
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
}

template <class T>
T oneOf(Random& random, const std::vector<T>& choices)
{
    return choices[random() % choices.size()];
}

enum class Kind { Plain, Special, Bits };

std::uint32_t awkward(Random& random, Element element, Kind kind)
{
    if (kind == Kind::Bits) return static_cast<std::uint32_t>(random()) >> (element == Element::Float32 ? 0 : 16);
    const auto pick = random() % 40;
    if (kind == Kind::Special && pick == 0) return encode(element, std::numeric_limits<double>::quiet_NaN());
    if (kind == Kind::Special && pick == 1) return encode(element, std::numeric_limits<double>::infinity());
    if (kind == Kind::Special && pick == 2) return encode(element, -std::numeric_limits<double>::infinity());
    if (pick == 3) return encode(element, -0.0);
    if (pick == 4) return encode(element, std::ldexp(1.0, static_cast<int>(random() % 12) - 24));
    return encode(element, std::normal_distribution<float>(0, 3)(random));
}

Elements filled(Random& random, Element element, std::int64_t count, Kind kind)
{
    Elements values(element, count, random() % 3 == 0 ? 1 + below(random, 3) : 0);
    for (std::int64_t i = 0; i < count; ++i) values.set(i, awkward(random, element, kind));
    return values;
}

// Few positions where rows are wide and many where there is a hub, so that a case stays small.
void makeOffsets(Case& c, Random& random, bool hubs)
{
    static const std::vector<std::int64_t> sizes{kPiece - 1,     kPiece,         kPiece + 1,     2 * kPiece,
                                                 2 * kPiece + 1, 3 * kPiece - 1, 10 * kPiece + 3};
    const std::int64_t destinations = below(random, hubs ? 6 : 30) + (hubs ? 1 : 0);
    c.offsets = {random() % 2 == 0 ? 0 : below(random, 50)};
    for (std::int64_t d = 0; d < destinations; ++d) {
        const bool hub = hubs && random() % 2 == 0;
        c.offsets.push_back(c.offsets.back() + (hub ? oneOf(random, sizes) : below(random, 7)));
    }
}

void makeWidth(SegmentArguments& a, Random& random, bool hubs)
{
    static const std::vector<std::int64_t> parts{1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 31, 32, 40, 64, 65, 100};
    static const std::vector<std::int64_t> wide{257, 300, 602, 1024, 1028, 2056};
    a.heads = random() % 2 == 0 ? 1 : 1 + below(random, 8);
    a.width = a.heads * (hubs ? 1 + below(random, a.heads > 2 ? 2 : 9) : oneOf(random, parts));
    if (!hubs && random() % 8 == 0) a.heads = 1, a.width = oneOf(random, wide);
    a.sourceStride = a.width + (random() % 3 == 0 ? oneOf<std::int64_t>(random, {1, 3, 4, 8, 16}) : 0);
}

// Where the first element of a table of positions belongs: before the first offset or there.
std::int64_t firstOf(Random& random, const Case& c)
{
    const std::int64_t begin = c.offsets.front();
    return random() % 3 == 0 ? begin : random() % 2 == 0 ? 0 : below(random, begin + 1);
}

void makeColumns(Case& c, Random& random, bool wide)
{
    SegmentArguments& a = c.arguments;
    const std::int64_t positions = c.offsets.back() - a.columnFirst;
    const std::int64_t rows = c.picked ? 1 + below(random, 50) : positions;
    for (std::int64_t i = 0; c.picked && i < positions; ++i) {
        c.columns.push_back(below(random, rows));
        c.narrowColumns.push_back(static_cast<std::int32_t>(c.columns.back()));
    }
    if (c.picked && wide) a.columns = c.columns.data();
    else if (c.picked) a.columns = c.narrowColumns.data();
    c.source = Elements(a.element, rows == 0 ? 0 : (rows - 1) * a.sourceStride + a.width, 0);
}

float combineOne(Combine combine, float best, float value)
{
    volatile float sum = best + value;
    if (combine == Combine::Sum || combine == Combine::Mean) return sum;
    if (std::isnan(best) && !std::isnan(value)) return best;
    const bool better = combine == Combine::Max ? value > best : value < best;
    return better || std::isnan(value) ? value : best;
}

float neutral(Combine combine)
{
    const float infinity = std::numeric_limits<float>::infinity();
    return combine == Combine::Max ? -infinity : combine == Combine::Min ? infinity : 0;
}

struct Place {
    std::int64_t row, weight;  // elements of source and weight
};

Place placeOf(const Case& c, std::int64_t p, std::int64_t column)
{
    const SegmentArguments& a = c.arguments;
    const std::int64_t at = p - a.columnFirst;
    const std::int64_t row = c.picked ? c.columns[static_cast<std::size_t>(at)] : at;
    return {row * a.sourceStride + column, (p - a.weightFirst) * a.heads + column / (a.width / a.heads)};
}

float combineRange(const Case& c, std::int64_t begin, std::int64_t end, std::int64_t column, float result)
{
    for (std::int64_t p = begin; p < end; ++p) {
        const Place place = placeOf(c, p, column);
        volatile float value = c.source.value(place.row);
        if (c.weighted) value = c.weight.value(place.weight) * value;
        result = combineOne(c.arguments.combine, result, value);
    }
    return result;
}

std::uint32_t expectedElement(const Case& c, std::int64_t d, std::int64_t column)
{
    const SegmentArguments& a = c.arguments;
    const std::int64_t begin = c.offsets[static_cast<std::size_t>(d)], end = c.offsets[static_cast<std::size_t>(d) + 1];
    const std::uint32_t before = c.out.bits(d * a.width + column);
    if (begin == end) return a.accumulate ? before : encode(a.element, a.empty);
    float result = a.accumulate ? decode(a.element, before) : neutral(a.combine);
    if (end - begin <= kPiece) {
        result = combineRange(c, begin, end, column, result);
    } else {
        for (std::int64_t piece = begin; piece < end; piece += kPiece) {
            const float part = combineRange(c, piece, std::min(piece + kPiece, end), column, neutral(a.combine));
            result = combineOne(a.combine, result, part);
        }
    }
    return encode(a.element, a.combine == Combine::Mean ? result / static_cast<float>(end - begin) : result);
}

double exactElement(const Case& c, std::int64_t d, std::int64_t column, bool magnitudes)
{
    const SegmentArguments& a = c.arguments;
    const auto of = [&](double value) { return magnitudes ? std::abs(value) : value; };
    const std::int64_t begin = c.offsets[static_cast<std::size_t>(d)], end = c.offsets[static_cast<std::size_t>(d) + 1];
    const double before = of(c.out.value(d * a.width + column));
    if (begin == end) return a.accumulate ? before : of(a.empty);
    const bool sums = a.combine == Combine::Sum || a.combine == Combine::Mean;
    double result = a.accumulate ? before : neutral(a.combine);
    for (std::int64_t p = begin; p < end; ++p) {
        const Place place = placeOf(c, p, column);
        const double value = of(c.source.value(place.row)) * (c.weighted ? of(c.weight.value(place.weight)) : 1.0);
        result = sums ? result + value : a.combine == Combine::Max ? std::max(result, value) : std::min(result, value);
    }
    return a.combine == Combine::Mean ? result / static_cast<double>(end - begin) : result;
}

template <class Result, class Work>
std::vector<Result> everywhere(const Case& c, const Work& work)
{
    std::vector<Result> all;
    for (std::int64_t d = 0; d < c.arguments.destinations; ++d)
        for (std::int64_t column = 0; column < c.arguments.width; ++column) all.push_back(work(d, column));
    return all;
}

}  // namespace

float decode(Element element, std::uint32_t bits)
{
    if (element == Element::Float32) return std::bit_cast<float>(bits);
    const Format f = formatOf(element);
    const std::uint32_t mantissa = bits & ((1u << f.mantissa) - 1), sign = bits >> 15;
    const int exponent = static_cast<int>((bits & 0x7fffu) >> f.mantissa);
    double value = 0;
    if (exponent == 2 * f.bias + 1)
        value = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    else if (exponent == 0) value = std::ldexp(mantissa, 1 - f.bias - f.mantissa);
    else value = std::ldexp(mantissa + (1u << f.mantissa), exponent - f.bias - f.mantissa);
    return static_cast<float>(sign != 0 ? -value : value);
}

std::uint32_t encode(Element element, double value)
{
    if (element == Element::Float32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const Format f = formatOf(element);
    const std::uint32_t sign = std::signbit(value) ? 0x8000u : 0;
    const std::uint32_t infinity = static_cast<std::uint32_t>(2 * f.bias + 1) << f.mantissa;
    if (std::isnan(value)) return sign | infinity | 1u << (f.mantissa - 1);
    if (value == 0) return sign;
    if (std::isinf(value)) return sign | infinity;
    const int exponent = std::max(std::ilogb(value), 1 - f.bias);
    // In steps of the last place; a step too many carries into the exponent's bits, up to infinity.
    const auto steps = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(std::abs(value), f.mantissa - exponent)));
    const std::uint64_t bits = steps + (static_cast<std::uint64_t>(exponent + f.bias - 1) << f.mantissa);
    return sign | static_cast<std::uint32_t>(std::min<std::uint64_t>(bits, infinity));
}

Elements::Elements(Element element, std::int64_t count, std::int64_t shift)
    : m_element(element),
      m_count(count),
      m_shift(shift),
      m_bytes(static_cast<std::size_t>(count + shift) * size())
{}

std::uint32_t Elements::bits(std::int64_t i) const
{
    std::uint32_t all = 0;
    std::memcpy(&all, m_bytes.data() + start() + static_cast<std::size_t>(i) * size(), size());
    return all;
}

void Elements::set(std::int64_t i, std::uint32_t bits)
{
    std::memcpy(m_bytes.data() + start() + static_cast<std::size_t>(i) * size(), &bits, size());
}

Case::Case(std::uint64_t number) : seed(number)
{
    Random random(seed);
    std::uint64_t left = seed;
    const auto digit = [&](std::uint64_t base) {
        const std::uint64_t value = left % base;
        left /= base;
        return value;
    };
    SegmentArguments& a = arguments;
    a.element = static_cast<Element>(digit(3));
    a.combine = static_cast<Combine>(digit(4));
    const bool wideOffsets = digit(2) == 0;
    const std::uint64_t columnKind = digit(3);
    weighted = digit(2) == 0;
    picked = columnKind != 0;
    const bool hubs = random() % 3 == 0;
    makeOffsets(*this, random, hubs);
    makeWidth(a, random, hubs);
    a.destinations = static_cast<std::int64_t>(offsets.size()) - 1;
    a.columnFirst = firstOf(random, *this), a.weightFirst = firstOf(random, *this);
    makeColumns(*this, random, columnKind == 1);
    const auto kind = oneOf<Kind>(random, {Kind::Plain, Kind::Plain, Kind::Special, Kind::Bits});
    plain = kind == Kind::Plain;
    source = filled(random, a.element, source.count(), kind);
    if (weighted) weight = filled(random, a.element, (offsets.back() - a.weightFirst) * a.heads, kind);
    a.accumulate = a.combine == Combine::Sum && random() % 2 == 0;
    a.empty = random() % 2 == 0 ? 0.0f : -7.3f;
    out = filled(random, a.element, a.destinations * a.width, kind);
    for (const std::int64_t offset : offsets) narrowOffsets.push_back(static_cast<std::int32_t>(offset));
    if (wideOffsets) a.offsets = offsets.data();
    else a.offsets = narrowOffsets.data();
    a.weight = weighted ? weight.data() : nullptr;
    a.source = source.data();
    a.out = out.data();
}

void Case::usePieces()
{
    pieces = hopscope::kernels::hubPieces(arguments.offsets, arguments.destinations);
    arguments.pieceFirst = static_cast<std::int64_t>(seed % 3) * 7;  // a part of a larger graph's
    for (HubPiece& piece : pieces) piece.destination += arguments.pieceFirst;
    partial.assign(pieces.size() * static_cast<std::size_t>(arguments.width), std::numeric_limits<float>::quiet_NaN());
    arguments.pieces = pieces.empty() ? nullptr : pieces.data();
    arguments.pieceCount = static_cast<std::int64_t>(pieces.size());
    arguments.partial = partial.data();
}

void Case::divideRows()
{
    SegmentArguments& a = arguments;
    const std::int64_t item = a.element == Element::Float32 ? 4 : 2, count = source.count();
    if (!picked || count == 0) return;
    divided = std::make_unique<DividedRows>(source.data(), (count - a.width) / a.sourceStride + 1, a.width * item,
                                            a.sourceStride * item, seed);
    a.source = divided->device.data();
    a.host = divided->arguments();
}

std::string describe(const Case& c)
{
    std::ostringstream text;
    const SegmentArguments& a = c.arguments;
    text << "seed " << c.seed << ": element " << static_cast<int>(a.element) << ", combine "
         << static_cast<int>(a.combine) << (a.accumulate ? ", accumulate" : "") << ", " << a.destinations
         << " destinations, positions " << c.offsets.front() << " to " << c.offsets.back()
         << (a.offsets.wide ? "" : " (narrow)") << ", "
         << hopscope::kernels::hubPieces(a.offsets, a.destinations).size() << " pieces of hubs, width " << a.width
         << ", heads " << a.heads << ", stride " << a.sourceStride << (c.picked ? ", picked" : ", in order")
         << (a.columns.wide ? "" : " (narrow)") << " from " << a.columnFirst
         << (c.weighted ? ", weighted from " : ", not weighted, ") << a.weightFirst << ", shifted by "
         << c.source.start() << " and " << c.out.start() << " bytes";
    return text.str();
}

std::vector<std::uint32_t> expected(const Case& c)
{
    return everywhere<std::uint32_t>(c, [&](auto d, auto column) { return expectedElement(c, d, column); });
}

std::vector<double> exact(const Case& c, bool magnitudes)
{
    return everywhere<double>(c, [&](auto d, auto column) { return exactElement(c, d, column, magnitudes); });
}

std::optional<std::string> difference(const std::vector<std::uint32_t>& want, const Case& c)
{
    const Element element = c.arguments.element;
    for (std::size_t i = 0; i < want.size(); ++i) {
        const std::uint32_t got = c.out.bits(static_cast<std::int64_t>(i));
        if (got == want[i] || (std::isnan(decode(element, got)) && std::isnan(decode(element, want[i])))) continue;
        std::ostringstream text;
        text << "element " << i << " is " << decode(element, got) << ", not " << decode(element, want[i]) << " (bits "
             << std::hex << got << ", not " << want[i] << ")";
        return text.str();
    }
    return std::nullopt;
}

}  // namespace segment_case
