// Processes rows so short that a vector holds several of them. Compiled once per instruction set (see
// elements_cpu_inl.h). For rows of a few bytes, separate calls and loops would take longer than the computation itself.

#if defined(HOPSCOPE_KERNELS_STRIP_NARROW) == defined(HWY_TARGET_TOGGLE)
#ifdef HOPSCOPE_KERNELS_STRIP_NARROW
#undef HOPSCOPE_KERNELS_STRIP_NARROW
#else
#define HOPSCOPE_KERNELS_STRIP_NARROW
#endif

#include <cstring>

#include <hwy/highway.h>

#include "kernels/strip_loops_inl.h"

HWY_BEFORE_NAMESPACE();
namespace hopscope::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kNarrowAhead = 32;  // rows; such a row takes longer to arrive than it takes to read several

// ---- rows side by side: row i of `count` begins at from(i)

template <int kWidth, class T, class From>
HWY_INLINE void packRows(From&& from, std::int64_t count, T* to)
{
    for (std::int64_t i = 0; i < count; ++i, to += kWidth) std::memcpy(to, from(i), kWidth * sizeof(T));
}

template <class T, class From>
HWY_INLINE void pack(From&& from, std::int64_t count, std::int64_t width, T* to)
{
    switch (width) {
    case 1: return packRows<1>(from, count, to);
    case 2: return packRows<2>(from, count, to);
    case 4: return packRows<4>(from, count, to);
    case 8: return packRows<8>(from, count, to);
    case 16: return packRows<16>(from, count, to);
    default:
        for (std::int64_t i = 0; i < count; ++i) std::copy(from(i), from(i) + width, to + i * width);
    }
}

// ---- the same row `count` times. May write up to a vector beyond the last one.

template <class Bits>
HWY_INLINE void repeatBits(const void* row, std::int64_t count, void* to)
{
    const hn::ScalableTag<Bits> d;
    Bits bits;
    std::memcpy(&bits, row, sizeof(Bits));
    const auto all = hn::Set(d, bits);
    auto* const out = static_cast<Bits*>(to);
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d))) hn::StoreU(all, d, out + i);
}

// Repeats a row of 16 bytes, for which vectors must have room.
[[maybe_unused]] HWY_INLINE void repeatBlock(const void* row, std::int64_t count, void* to)
{
    const hn::ScalableTag<std::uint32_t> d;
    const auto all = hn::LoadDup128(d, static_cast<const std::uint32_t*>(row));
    auto* const out = static_cast<std::uint32_t*>(to);
    for (std::int64_t i = 0; i < 4 * count; i += static_cast<std::int64_t>(hn::Lanes(d))) hn::StoreU(all, d, out + i);
}

template <class T>
HWY_INLINE void repeat(const T* row, std::int64_t count, std::int64_t width, T* to)
{
    switch (width * static_cast<std::int64_t>(sizeof(T))) {
    case 2: return repeatBits<std::uint16_t>(row, count, to);
    case 4: return repeatBits<std::uint32_t>(row, count, to);
    case 8: return repeatBits<std::uint64_t>(row, count, to);
#if HWY_TARGET != HWY_SCALAR
    case 16: return repeatBlock(row, count, to);
#endif
    default: return pack([row](std::int64_t) HWY_ATTR { return row; }, count, width, to);
    }
}

// ---- aggregations of rows that follow each other

// Adds up the rows sequentially, as for wider rows.
template <int kWidth, class T>
HWY_INLINE void sumOfRows(const T* rows, std::int64_t count, ComputeOf<T>* sums)
{
    const hn::CappedTag<ComputeOf<T>, kWidth> d;
    constexpr int kVectors = kWidth / static_cast<int>(hn::MaxLanes(d));
    const auto place = [&](int k) HWY_ATTR { return k * static_cast<std::int64_t>(hn::MaxLanes(d)); };
    hn::Vec<decltype(d)> state[kVectors];
    for (int k = 0; k < kVectors; ++k) state[k] = hn::Zero(d);
    for (std::int64_t i = 0; i < count; ++i, rows += kWidth)
        for (int k = 0; k < kVectors; ++k) state[k] = hn::Add(state[k], load(d, rows + place(k)));
    for (int k = 0; k < kVectors; ++k) hn::StoreU(state[k], d, sums + place(k));
}

// Reduces the rows in a vector to one, which is stored in the first kWidth elements of `all`.
template <int kLanes, int kWidth, class C>
HWY_INLINE void foldMost(C* all)
{
    if constexpr (kLanes > kWidth) {
        constexpr int kHalf = kLanes / 2;
        const hn::CappedTag<C, kHalf> d;
        hn::StoreU(Most::apply(d, hn::LoadU(d, all), hn::LoadU(d, all + kHalf)), d, all);
        foldMost<kHalf, kWidth>(all);
    }
}

// Finds the extrema of the rows, a vector at a time; the order in which equal elements are found changes only the sign
// of a zero. The last vector may overlap the previous one; kWidth divides both its length and its start. Reads at least
// one whole vector, even if there are fewer elements.
template <int kWidth, class T>
HWY_INLINE void mostOfRows(const T* rows, std::int64_t count, bool negated, ComputeOf<T>* most)
{
    using C = ComputeOf<T>;
    const Wide<T> d;
    const std::int64_t lanes = wideLanes<T>(), elements = count * kWidth;
    const auto least = hn::Neg(hn::Inf(d));
    const auto at = [&](std::int64_t i) HWY_ATTR { return negated ? hn::Neg(load(d, rows + i)) : load(d, rows + i); };
    auto best = elements < lanes ? hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(elements)), at(0), least)
                                 : at(elements - lanes);
    for (std::int64_t i = 0; i + lanes <= elements; i += lanes) best = Most::apply(d, best, at(i));
    C all[hn::MaxLanes(d)];
    hn::StoreU(best, d, all);
    foldMost<static_cast<int>(hn::MaxLanes(d)), kWidth>(all);
    std::copy(all, all + kWidth, most);
}

template <int kWidth, class T>
HWY_INLINE void aggregateRows(const Messages<T>& m, std::int64_t begin, std::int64_t end, T* out)
{
    ComputeOf<T> sums[kWidth];
    const T* const rows = m.rows.base + begin * kWidth;
    if (m.sums()) sumOfRows<kWidth>(rows, end - begin, sums);
    else mostOfRows<kWidth>(rows, end - begin, m.combine == Combine::Min, sums);
    finish(m, sums, end - begin, out);
}

// Returns whether aggregateRows() can process the messages.
template <class T>
bool areNarrow(const Messages<T>& m)
{
    const bool few = m.width == 1 || m.width == 2 || m.width == 4;
    return few && m.factor.width == 0 && m.rows.flat() && wideLanes<T>() % m.width == 0;
}

}  // namespace HWY_NAMESPACE
}  // namespace hopscope::kernels
HWY_AFTER_NAMESPACE();

#endif
