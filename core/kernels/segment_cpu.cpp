#include "kernels/segment.h"

#include <algorithm>
#include <limits>

#include <hwy/cache_control.h>

// Processors of 2007 that know SSSE3 but not SSE4 are not worth another copy of all this. Sanitizers take a minute for
// all copies and find in one what there is in the others.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3)
#else
#define HWY_DISABLED_TARGETS HWY_SSSE3
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/segment_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/elements_cpu_inl.h"

// Once per instruction set. A destination is done in tiles of columns that stay in registers while its positions are
// walked in order; products and sums are rounded one by one, so that every instruction set gives the same bits.

HWY_BEFORE_NAMESPACE();
namespace hopscope::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kAhead = 4;  // positions
constexpr std::int64_t kLine = 64;

template <class D>
HWY_INLINE std::int64_t lanes(D d)
{
    return static_cast<std::int64_t>(hn::Lanes(d));
}

struct SumStep {
    static constexpr float kStart = 0;
    static constexpr bool kFlips = false;
    template <class D, class V>
    static HWY_INLINE V apply(D, V sum, V value)
    {
        return hn::Add(sum, value);
    }
};

// NaN wins over everything, as in torch.amax. The smallest is the largest of negated values.
struct MostStep {
    static constexpr float kStart = -std::numeric_limits<float>::infinity();
    static constexpr bool kFlips = true;
    template <class D, class V>
    static HWY_INLINE V apply(D, V best, V value)
    {
        return hn::IfThenElse(hn::Or(hn::Gt(value, best), hn::IsNaN(value)), value, best);
    }
};

// Columns as numbers of one width, for float32, and of the width that the arguments name, for the half types: some
// instructions more per position and half of the code.
template <class Number>
struct ColumnsOf {
    const Number* numbers;

    explicit ColumnsOf(const Index& columns) : numbers(static_cast<const Number*>(columns.data)) {}
    [[nodiscard]] HWY_INLINE std::int64_t operator[](std::int64_t at) const
    {
        return numbers != nullptr ? static_cast<std::int64_t>(numbers[at]) : at;
    }
};

struct AnyColumns {
    const Index& columns;

    explicit AnyColumns(const Index& given) : columns(given) {}
    [[nodiscard]] HWY_INLINE std::int64_t operator[](std::int64_t at) const
    {
        return columns.data != nullptr ? columns[at] : at;
    }
};

// The positions of one destination and a block of columns that share a weight.
template <class Elements, class Columns>
struct Run {
    using T = Elements;
    const SegmentArguments& a;
    Columns columns;
    std::int64_t begin, end;  // positions, at least one
    std::int64_t positions;   // of all destinations at hand: the end of prefetching
    T* out;                   // row of the destination
    float sign;               // -0 where values are negated, else 0
    std::int64_t head = 0;

    [[nodiscard]] HWY_INLINE const T* row(std::int64_t p) const
    {
        return static_cast<const T*>(a.source) + columns[p - a.columnFirst] * a.sourceStride;
    }
    // Half types are always walked as if there were weights: a product with 1 is exact.
    [[nodiscard]] HWY_INLINE float weight(std::int64_t p) const
    {
        if (sizeof(T) == 2 && a.weight == nullptr) return 1;
        return widen(static_cast<const T*>(a.weight)[(p - a.weightFirst) * a.heads + head]);
    }
    [[nodiscard]] bool hub() const { return end - begin > kPiece; }
};

template <class Step, class Run, class D>
HWY_INLINE hn::Vec<D> flipped(D d, const Run& run, hn::Vec<D> value)
{
    if constexpr (Step::kFlips) return hn::Xor(value, hn::Set(d, run.sign));
    else return value;
}

template <class Step, class Run, class D>
HWY_INLINE void finish(D d, const Run& run, hn::Vec<D> value, typename Run::T* to)
{
    if (run.a.combine == Combine::Mean) value = hn::Div(value, hn::Set(d, static_cast<float>(run.end - run.begin)));
    store(d, flipped<Step>(d, run, value), to);
}

template <class Step, class Run, class D>
HWY_INLINE hn::Vec<D> startOf(D d, const Run& run, const typename Run::T* out)
{
    return run.a.accumulate ? load(d, out) : hn::Set(d, Step::kStart);
}

// Adds positions [begin, end) of four vectors of columns.
template <class Step, bool weighted, class Run, class D, class V>
HWY_INLINE void walkFour(D d, const Run& run, std::int64_t begin, std::int64_t end, std::int64_t at, V& s0, V& s1,
                         V& s2, V& s3)
{
    const std::int64_t n = lanes(d);
    for (std::int64_t p = begin; p < end; ++p) {
        if (p + kAhead < run.positions) {
            const auto* next = run.row(p + kAhead) + at;
            for (std::int64_t line = 0; line < 4 * n; line += kLine / static_cast<std::int64_t>(sizeof(*next)))
                hwy::Prefetch(next + line);
        }
        const auto* from = run.row(p) + at;
        auto v0 = load(d, from), v1 = load(d, from + n), v2 = load(d, from + 2 * n), v3 = load(d, from + 3 * n);
        if constexpr (weighted) {
            const auto w = hn::Set(d, run.weight(p));
            v0 = hn::Mul(w, v0), v1 = hn::Mul(w, v1), v2 = hn::Mul(w, v2), v3 = hn::Mul(w, v3);
        }
        s0 = Step::apply(d, s0, flipped<Step>(d, run, v0)), s1 = Step::apply(d, s1, flipped<Step>(d, run, v1));
        s2 = Step::apply(d, s2, flipped<Step>(d, run, v2)), s3 = Step::apply(d, s3, flipped<Step>(d, run, v3));
    }
}

// Columns [at, at + 4 vectors).
template <class Step, bool weighted, class Run, class D>
HWY_INLINE void fourVectors(D d, const Run& run, std::int64_t at)
{
    const std::int64_t n = lanes(d);
    auto* const to = run.out + at;
    const auto start = hn::Set(d, Step::kStart);
    auto s0 = startOf<Step>(d, run, to), s1 = startOf<Step>(d, run, to + n);
    auto s2 = startOf<Step>(d, run, to + 2 * n), s3 = startOf<Step>(d, run, to + 3 * n);
    const bool hub = run.hub();
    for (std::int64_t begin = run.begin; begin < run.end;) {
        const std::int64_t end = hub ? std::min(begin + kPiece, run.end) : run.end;
        auto p0 = hub ? start : s0, p1 = hub ? start : s1, p2 = hub ? start : s2, p3 = hub ? start : s3;
        walkFour<Step, weighted>(d, run, begin, end, at, p0, p1, p2, p3);
        s0 = hub ? Step::apply(d, s0, p0) : p0, s1 = hub ? Step::apply(d, s1, p1) : p1;
        s2 = hub ? Step::apply(d, s2, p2) : p2, s3 = hub ? Step::apply(d, s3, p3) : p3;
        begin = end;
    }
    finish<Step>(d, run, s0, to), finish<Step>(d, run, s1, to + n);
    finish<Step>(d, run, s2, to + 2 * n), finish<Step>(d, run, s3, to + 3 * n);
}

template <class Step, bool weighted, class Run, class D>
HWY_INLINE hn::Vec<D> walkOne(D d, const Run& run, std::int64_t begin, std::int64_t end, std::int64_t at,
                              hn::Vec<D> sum)
{
    for (std::int64_t p = begin; p < end; ++p) {
        if (p + kAhead < run.positions) hwy::Prefetch(run.row(p + kAhead) + at);
        auto value = load(d, run.row(p) + at);
        if constexpr (weighted) value = hn::Mul(hn::Set(d, run.weight(p)), value);
        sum = Step::apply(d, sum, flipped<Step>(d, run, value));
    }
    return sum;
}

template <class Step, bool weighted, class Run, class D>
HWY_INLINE void oneVector(D d, const Run& run, std::int64_t at)
{
    auto sum = startOf<Step>(d, run, run.out + at);
    const bool hub = run.hub();
    for (std::int64_t begin = run.begin; begin < run.end;) {
        const std::int64_t end = hub ? std::min(begin + kPiece, run.end) : run.end;
        const auto part = walkOne<Step, weighted>(d, run, begin, end, at, hub ? hn::Set(d, Step::kStart) : sum);
        sum = hub ? Step::apply(d, sum, part) : part;
        begin = end;
    }
    finish<Step>(d, run, sum, run.out + at);
}

template <class Step, bool weighted, class Run>
void columns(const Run& run, std::int64_t at, std::int64_t end)
{
    const hn::ScalableTag<float> wide;
    const hn::CappedTag<float, 8> eight;
    const hn::CappedTag<float, 4> four;
    const hn::CappedTag<float, 2> two;
    const hn::CappedTag<float, 1> single;
    const std::int64_t n = lanes(wide);
    for (; at + 4 * n <= end; at += 4 * n) fourVectors<Step, weighted>(wide, run, at);
    for (; at + n <= end; at += n) oneVector<Step, weighted>(wide, run, at);
    for (std::int64_t m = lanes(eight); at + m <= end; at += m) oneVector<Step, weighted>(eight, run, at);
    for (std::int64_t m = lanes(four); at + m <= end; at += m) oneVector<Step, weighted>(four, run, at);
    for (std::int64_t m = lanes(two); at + m <= end; at += m) oneVector<Step, weighted>(two, run, at);
    for (; at < end; ++at) oneVector<Step, weighted>(single, run, at);
}

template <class Step, bool weighted, class T, class Columns>
void destination(const SegmentArguments& a, std::int64_t d, std::int64_t positions)
{
    Run<T, Columns> run{.a = a,
                        .columns = Columns(a.columns),
                        .begin = a.offsets[d],
                        .end = a.offsets[d + 1],
                        .positions = positions,
                        .out = static_cast<T*>(a.out) + d * a.width,
                        .sign = a.combine == Combine::Min ? -0.0f : 0.0f};
    const std::int64_t heads = a.weight != nullptr ? a.heads : 1;
    const std::int64_t part = a.width / heads;
    for (; run.head < heads; ++run.head) columns<Step, weighted>(run, run.head * part, (run.head + 1) * part);
}

template <class Step, bool weighted, class T, class Columns>
void segments(const SegmentArguments& a, std::int64_t first, std::int64_t last)
{
    for (std::int64_t d = first; d < last; ++d) {
        if (a.offsets[d] == a.offsets[d + 1]) {
            T* const out = static_cast<T*>(a.out) + d * a.width;
            if (!a.accumulate) std::fill(out, out + a.width, narrow<T>(a.empty));
        } else {
            destination<Step, weighted, T, Columns>(a, d, a.offsets[last]);
        }
    }
}

template <class T, bool weighted, class Columns>
void combined(const SegmentArguments& a, std::int64_t first, std::int64_t last)
{
    const bool sums = a.combine == Combine::Sum || a.combine == Combine::Mean;
    if (sums) segments<SumStep, weighted, T, Columns>(a, first, last);
    else segments<MostStep, weighted, T, Columns>(a, first, last);
}

template <class Columns>
void floats(const SegmentArguments& a, std::int64_t first, std::int64_t last)
{
    if (a.weight != nullptr) combined<float, true, Columns>(a, first, last);
    else combined<float, false, Columns>(a, first, last);
}

void segment(const SegmentArguments& a, std::int64_t first, std::int64_t last)
{
    if (a.element == Element::Float16) combined<Float16, true, AnyColumns>(a, first, last);
    else if (a.element == Element::BFloat16) combined<BFloat16, true, AnyColumns>(a, first, last);
    else if (a.columns.wide) floats<ColumnsOf<std::int64_t>>(a, first, last);
    else floats<ColumnsOf<std::int32_t>>(a, first, last);
}

}  // namespace HWY_NAMESPACE
}  // namespace hopscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hopscope::kernels {

HWY_EXPORT(segment);

void segmentCpu(const SegmentArguments& arguments, std::int64_t first, std::int64_t last)
{
    if (first >= last || arguments.width == 0) return;
    HWY_DYNAMIC_DISPATCH(segment)(arguments, first, last);
}

}  // namespace hopscope::kernels
#endif
