#include "kernels/segment.h"

#include <limits>

#include <hwy/cache_control.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/segment_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// Once per instruction set. A destination is done in tiles of columns that stay in registers while its positions are
// walked in order; products and sums are rounded one by one, so that every instruction set gives the same bits.

HWY_BEFORE_NAMESPACE();
namespace hopscope::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kAhead = 4;  // positions

struct SumStep {
    static constexpr float kStart = 0;
    template <class D, class V>
    static V apply(D, V sum, V value)
    {
        return hn::Add(sum, value);
    }
};

// NaN wins over everything, as in torch.amax.
struct MaxStep {
    static constexpr float kStart = -std::numeric_limits<float>::infinity();
    template <class D, class V>
    static V apply(D, V best, V value)
    {
        return hn::IfThenElse(hn::Or(hn::Gt(value, best), hn::IsNaN(value)), value, best);
    }
};

struct MinStep {
    static constexpr float kStart = std::numeric_limits<float>::infinity();
    template <class D, class V>
    static V apply(D, V best, V value)
    {
        return hn::IfThenElse(hn::Or(hn::Lt(value, best), hn::IsNaN(value)), value, best);
    }
};

// The positions of one destination and a block of columns that share a weight.
struct Run {
    const SegmentArguments& a;
    std::int64_t begin, end;  // positions, at least one
    std::int64_t positions;   // of all destinations at hand: the end of prefetching
    std::int64_t head;
    float* out;  // row of the destination

    [[nodiscard]] const float* row(std::int64_t p) const
    {
        return a.source + (a.columns != nullptr ? a.columns[p] : p) * a.sourceStride;
    }
    [[nodiscard]] float weight(std::int64_t p) const { return a.weight[p * a.heads + head]; }
};

template <class V, class D>
HWY_INLINE V finish(D d, const Run& run, V value)
{
    if (run.a.combine != Combine::Mean) return value;
    return hn::Div(value, hn::Set(d, static_cast<float>(run.end - run.begin)));
}

// Columns [at, at + 4 vectors).
template <class Step, bool weighted, class D>
HWY_INLINE void fourVectors(D d, const Run& run, std::int64_t at)
{
    const std::int64_t n = static_cast<std::int64_t>(hn::Lanes(d));
    float* to = run.out + at;
    auto s0 = hn::Set(d, Step::kStart), s1 = s0, s2 = s0, s3 = s0;
    if (run.a.accumulate) {
        s0 = hn::LoadU(d, to), s1 = hn::LoadU(d, to + n);
        s2 = hn::LoadU(d, to + 2 * n), s3 = hn::LoadU(d, to + 3 * n);
    }
    for (std::int64_t p = run.begin; p < run.end; ++p) {
        if (p + kAhead < run.positions) {
            const float* next = run.row(p + kAhead) + at;
            for (std::int64_t line = 0; line < 4 * n; line += 16) hwy::Prefetch(next + line);
        }
        const float* from = run.row(p) + at;
        auto v0 = hn::LoadU(d, from), v1 = hn::LoadU(d, from + n);
        auto v2 = hn::LoadU(d, from + 2 * n), v3 = hn::LoadU(d, from + 3 * n);
        if constexpr (weighted) {
            const auto w = hn::Set(d, run.weight(p));
            v0 = hn::Mul(w, v0), v1 = hn::Mul(w, v1), v2 = hn::Mul(w, v2), v3 = hn::Mul(w, v3);
        }
        s0 = Step::apply(d, s0, v0), s1 = Step::apply(d, s1, v1);
        s2 = Step::apply(d, s2, v2), s3 = Step::apply(d, s3, v3);
    }
    hn::StoreU(finish(d, run, s0), d, to), hn::StoreU(finish(d, run, s1), d, to + n);
    hn::StoreU(finish(d, run, s2), d, to + 2 * n), hn::StoreU(finish(d, run, s3), d, to + 3 * n);
}

template <class Step, bool weighted, class D>
HWY_INLINE void oneVector(D d, const Run& run, std::int64_t at)
{
    float* to = run.out + at;
    auto sum = run.a.accumulate ? hn::LoadU(d, to) : hn::Set(d, Step::kStart);
    for (std::int64_t p = run.begin; p < run.end; ++p) {
        if (p + kAhead < run.positions) hwy::Prefetch(run.row(p + kAhead) + at);
        auto value = hn::LoadU(d, run.row(p) + at);
        if constexpr (weighted) value = hn::Mul(hn::Set(d, run.weight(p)), value);
        sum = Step::apply(d, sum, value);
    }
    hn::StoreU(finish(d, run, sum), d, to);
}

template <class Step, bool weighted>
void columns(const Run& run, std::int64_t at, std::int64_t end)
{
    const hn::ScalableTag<float> wide;
    const hn::CappedTag<float, 4> narrow;
    const hn::CappedTag<float, 1> single;
    const auto n = static_cast<std::int64_t>(hn::Lanes(wide));
    const auto small = static_cast<std::int64_t>(hn::Lanes(narrow));
    for (; at + 4 * n <= end; at += 4 * n) fourVectors<Step, weighted>(wide, run, at);
    for (; at + n <= end; at += n) oneVector<Step, weighted>(wide, run, at);
    for (; at + small <= end; at += small) oneVector<Step, weighted>(narrow, run, at);
    for (; at < end; ++at) oneVector<Step, weighted>(single, run, at);
}

template <class Step, bool weighted>
void destination(const SegmentArguments& a, std::int64_t d, std::int64_t positions)
{
    Run run{a, a.offsets[d], a.offsets[d + 1], positions, 0, a.out + d * a.width};
    const std::int64_t heads = weighted ? a.heads : 1;
    const std::int64_t part = a.width / heads;
    for (; run.head < heads; ++run.head) columns<Step, weighted>(run, run.head * part, (run.head + 1) * part);
}

template <class Step>
void segments(const SegmentArguments& a, std::int64_t first, std::int64_t last)
{
    for (std::int64_t d = first; d < last; ++d) {
        if (a.offsets[d] == a.offsets[d + 1]) {
            for (std::int64_t c = 0; c < a.width && !a.accumulate; ++c) a.out[d * a.width + c] = a.empty;
        } else if (a.weight != nullptr) {
            destination<Step, true>(a, d, a.offsets[last]);
        } else {
            destination<Step, false>(a, d, a.offsets[last]);
        }
    }
}

void segment(const SegmentArguments& a, std::int64_t first, std::int64_t last)
{
    switch (a.combine) {
    case Combine::Sum:
    case Combine::Mean: return segments<SumStep>(a, first, last);
    case Combine::Max: return segments<MaxStep>(a, first, last);
    case Combine::Min: return segments<MinStep>(a, first, last);
    }
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
