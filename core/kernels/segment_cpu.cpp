#include "kernels/segment.h"

#include <algorithm>
#include <limits>

#include <hwy/cache_control.h>

#include "kernels/instruction_sets.h"

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

constexpr std::int64_t kAhead = 24;  // positions
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
template <class Elements, class Out, class Columns>
struct Run {
    using T = Elements;  // of the source
    using O = Out;       // of out and of weights
    const SegmentArguments& a;
    Columns columns;
    std::int64_t begin, end;  // positions, at least one
    std::int64_t positions;   // of all destinations at hand: the end of prefetching
    O* out;                   // row of the destination
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
        return widen(static_cast<const O*>(a.weight)[(p - a.weightFirst) * a.heads + head]);
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
HWY_INLINE void finish(D d, const Run& run, hn::Vec<D> value, typename Run::O* to)
{
    if (run.a.combine == Combine::Mean) value = hn::Div(value, hn::Set(d, static_cast<float>(run.end - run.begin)));
    store(d, flipped<Step>(d, run, value), to);
}

template <class Step, class Run, class D>
HWY_INLINE hn::Vec<D> startOf(D d, const Run& run, const typename Run::O* out)
{
    return run.a.accumulate ? load(d, out) : hn::Set(d, Step::kStart);
}

// Columns [at, at + last + lanes) in `kCount` vectors; the last one begins at `last` and may overlap the one before,
// since elements in both are computed alike. A row is read once, whatever its width up to eight vectors.
template <class Step, bool weighted, int kCount, class Run, class D>
struct Walk {
    using V = hn::Vec<D>;
    D d;
    const Run& run;
    std::int64_t at, last;

    [[nodiscard]] HWY_INLINE std::int64_t place(int k) const { return k + 1 < kCount ? k * lanes(d) : last; }

    HWY_INLINE void prefetch(std::int64_t p) const
    {
        const auto* const next = run.row(p) + at;
        constexpr std::int64_t line = kLine / static_cast<std::int64_t>(sizeof(*next));
        for (std::int64_t c = 0; c < last + lanes(d); c += line) hwy::Prefetch(next + c);
        hwy::Prefetch(next + last + lanes(d) - 1);  // rows need not begin where a line does
    }

    // Adds positions [begin, end).
    HWY_INLINE void walk(std::int64_t begin, std::int64_t end, V (&sums)[kCount]) const
    {
        for (std::int64_t p = begin; p < end; ++p) {
            if (p + kAhead < run.positions) prefetch(p + kAhead);
            const auto* const from = run.row(p) + at;
            const auto weight = hn::Set(d, weighted ? run.weight(p) : 1.0f);
            for (int k = 0; k < kCount; ++k) {
                auto value = load(d, from + place(k));
                if constexpr (weighted) value = hn::Mul(weight, value);
                sums[k] = Step::apply(d, sums[k], flipped<Step>(d, run, value));
            }
        }
    }

    HWY_INLINE void hub(V (&sums)[kCount]) const
    {
        for (std::int64_t begin = run.begin; begin < run.end; begin += kPiece) {
            V parts[kCount];
            for (int k = 0; k < kCount; ++k) parts[k] = hn::Set(d, Step::kStart);
            walk(begin, std::min(begin + kPiece, run.end), parts);
            for (int k = 0; k < kCount; ++k) sums[k] = Step::apply(d, sums[k], parts[k]);
        }
    }

    HWY_INLINE void compute() const
    {
        auto* const to = run.out + at;
        V sums[kCount];
        for (int k = 0; k < kCount; ++k) sums[k] = startOf<Step>(d, run, to + place(k));
        if (run.hub()) hub(sums);
        else walk(run.begin, run.end, sums);
        for (int k = 0; k < kCount; ++k) finish<Step>(d, run, sums[k], to + place(k));
    }
};

template <class Step, bool weighted, int kCount, class Run, class D>
HWY_NOINLINE void vectors(D d, const Run& run, std::int64_t at, std::int64_t last)
{
    Walk<Step, weighted, kCount, Run, D>{d, run, at, last}.compute();
}

template <class Step, bool weighted, class Run, class D>
HWY_INLINE hn::Vec<D> walkOne(D d, const Run& run, std::int64_t begin, std::int64_t end, std::int64_t at,
                              hn::Vec<D> sum)
{
    for (std::int64_t p = begin; p < end; ++p) {
        if (p + kAhead < run.positions) {
            hwy::Prefetch(run.row(p + kAhead) + at);
            hwy::Prefetch(run.row(p + kAhead) + at + lanes(d) - 1);
        }
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

// Between one and eight vectors: `columns` of them, the last one whole.
template <class Step, bool weighted, class Run, class D>
void upToEight(D d, const Run& run, std::int64_t at, std::int64_t columns)
{
    const std::int64_t n = lanes(d), last = columns - n;
    switch ((columns + n - 1) / n) {
    case 1: return vectors<Step, weighted, 1>(d, run, at, last);
    case 2: return vectors<Step, weighted, 2>(d, run, at, last);
    case 3: return vectors<Step, weighted, 3>(d, run, at, last);
    case 4: return vectors<Step, weighted, 4>(d, run, at, last);
    case 5: return vectors<Step, weighted, 5>(d, run, at, last);
    case 6: return vectors<Step, weighted, 6>(d, run, at, last);
    case 7: return vectors<Step, weighted, 7>(d, run, at, last);
    default: return vectors<Step, weighted, 8>(d, run, at, last);
    }
}

// Fewer than a vector.
template <class Step, bool weighted, class Run>
void few(const Run& run, std::int64_t at, std::int64_t end)
{
    const hn::CappedTag<float, 8> eight;
    const hn::CappedTag<float, 4> four;
    const hn::CappedTag<float, 2> two;
    const hn::CappedTag<float, 1> single;
    for (std::int64_t m = lanes(eight); at + m <= end; at += m) oneVector<Step, weighted>(eight, run, at);
    for (std::int64_t m = lanes(four); at + m <= end; at += m) oneVector<Step, weighted>(four, run, at);
    for (std::int64_t m = lanes(two); at + m <= end; at += m) oneVector<Step, weighted>(two, run, at);
    for (; at < end; ++at) oneVector<Step, weighted>(single, run, at);
}

// Blocks are cut so that the last one is at least a vector: overlapping vectors stay within their block, since a sum may
// begin with what `out` holds.
template <class Step, bool weighted, class Run>
void columns(const Run& run, std::int64_t at, std::int64_t end)
{
    const hn::ScalableTag<float> wide;
    const std::int64_t n = lanes(wide);
    if (end - at < n) return few<Step, weighted>(run, at, end);
    while (end - at > 8 * n) {
        const std::int64_t block = end - at < 9 * n ? 4 * n : 8 * n;
        upToEight<Step, weighted>(wide, run, at, block);
        at += block;
    }
    upToEight<Step, weighted>(wide, run, at, end - at);
}

template <class Step, bool weighted, class T, class O, class Columns>
void destination(const SegmentArguments& a, std::int64_t d, std::int64_t positions)
{
    Run<T, O, Columns> run{.a = a,
                           .columns = Columns(a.columns),
                           .begin = a.offsets[d],
                           .end = a.offsets[d + 1],
                           .positions = positions,
                           .out = static_cast<O*>(a.out) + d * a.width,
                           .sign = a.combine == Combine::Min ? -0.0f : 0.0f};
    const std::int64_t heads = a.weight != nullptr ? a.heads : 1;
    const std::int64_t part = a.width / heads;
    for (; run.head < heads; ++run.head) columns<Step, weighted>(run, run.head * part, (run.head + 1) * part);
}

template <class Step, bool weighted, class T, class O, class Columns>
void segments(const SegmentArguments& a, std::int64_t first, std::int64_t last)
{
    for (std::int64_t d = first; d < last; ++d) {
        if (a.offsets[d] == a.offsets[d + 1]) {
            O* const out = static_cast<O*>(a.out) + d * a.width;
            if (!a.accumulate) std::fill(out, out + a.width, narrow<O>(a.empty));
        } else {
            destination<Step, weighted, T, O, Columns>(a, d, a.offsets[last]);
        }
    }
}

template <class T, class O, bool weighted, class Columns>
void combined(const SegmentArguments& a, std::int64_t first, std::int64_t last)
{
    const bool sums = a.combine == Combine::Sum || a.combine == Combine::Mean;
    if (sums) segments<SumStep, weighted, T, O, Columns>(a, first, last);
    else segments<MostStep, weighted, T, O, Columns>(a, first, last);
}

template <class Columns>
void floats(const SegmentArguments& a, std::int64_t first, std::int64_t last)
{
    if (a.weight != nullptr) combined<float, float, true, Columns>(a, first, last);
    else combined<float, float, false, Columns>(a, first, last);
}

void segment(const SegmentArguments& a, std::int64_t first, std::int64_t last)
{
    if (a.element == Element::Float16) combined<Float16, Float16, true, AnyColumns>(a, first, last);
    else if (a.element == Element::BFloat16) combined<BFloat16, BFloat16, true, AnyColumns>(a, first, last);
    else if (a.sourceElement == Element::Float16) combined<Float16, float, true, AnyColumns>(a, first, last);
    else if (a.sourceElement == Element::BFloat16) combined<BFloat16, float, true, AnyColumns>(a, first, last);
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
