// Implements the loops over the rows of a strip. Compiled once per instruction set (see elements_cpu_inl.h).

#if defined(HOPSCOPE_KERNELS_STRIP_LOOPS) == defined(HWY_TARGET_TOGGLE)
#ifdef HOPSCOPE_KERNELS_STRIP_LOOPS
#undef HOPSCOPE_KERNELS_STRIP_LOOPS
#else
#define HOPSCOPE_KERNELS_STRIP_LOOPS
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "kernels/elements_cpu_inl.h"
#include "kernels/strip_math_inl.h"

HWY_BEFORE_NAMESPACE();
namespace hopscope::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kRowsAhead = 24, kLongRowsAhead = 8;
constexpr std::int64_t kLongRow = 1024;  // bytes: longer rows would evict each other from the L1 cache
constexpr std::int64_t kLineBytes = 64;
constexpr int kMostVectors = 8;  // of sums, in registers

template <class T>
using ComputeOf = std::conditional_t<std::is_same_v<T, double>, double, float>;
template <class T>
using Wide = hn::ScalableTag<ComputeOf<T>>;

template <class T>
HWY_INLINE std::int64_t wideLanes()
{
    return static_cast<std::int64_t>(hn::Lanes(Wide<T>()));
}

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const double* from)
{
    return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE void store(D d, hn::Vec<D> value, double* to)
{
    hn::StoreU(value, d, to);
}

template <class T>
HWY_INLINE T narrowTo(ComputeOf<T> value)
{
    if constexpr (std::is_same_v<T, double>) return value;
    else return narrow<T>(value);
}

template <class T>
HWY_INLINE ComputeOf<T> widened(T value)
{
    if constexpr (std::is_same_v<T, double>) return value;
    else return widen(value);
}

// Rows at a constant distance, or given by pointers. `far`: they are probably not in a cache.
template <class T>
struct Rows {
    const T* base = nullptr;
    std::int64_t stride = 0, width = 0;
    const T* const* pointers = nullptr;
    bool far = false;

    [[nodiscard]] HWY_INLINE const T* operator[](std::int64_t i) const
    {
        return pointers != nullptr ? pointers[i] : base + i * stride;
    }
    [[nodiscard]] bool flat() const { return pointers == nullptr && stride == width; }
    [[nodiscard]] bool single() const { return pointers == nullptr && stride == 0 && width == 1; }

    HWY_INLINE void prefetch(std::int64_t i, std::int64_t count) const
    {
        const std::int64_t ahead =
            width * static_cast<std::int64_t>(sizeof(T)) <= kLongRow ? kRowsAhead : kLongRowsAhead;
        if (!far || i + ahead >= count) return;
        const T* const next = pointers[i + ahead];
        for (std::int64_t c = 0; c < width; c += kLineBytes / static_cast<std::int64_t>(sizeof(T)))
            hwy::Prefetch(next + c);
        hwy::Prefetch(next + width - 1);  // rows need not begin with a cache line
    }
};

// ---- one operator on n elements. The elements that do not fill a vector are computed first, because the result may
// overwrite an operand.

template <class Op, class T>
HWY_NOINLINE void single(const T* a, double parameter, T* out, std::int64_t n)
{
    const Wide<T> d;
    const std::int64_t lanes = wideLanes<T>();
    if (n < lanes) {
        T padded[hn::MaxLanes(d)] = {}, made[hn::MaxLanes(d)];
        std::copy(a, a + n, padded);
        single<Op>(padded, parameter, made, lanes);
        std::copy(made, made + n, out);
        return;
    }
    const auto end = Op::apply(d, load(d, a + n - lanes), parameter);
    for (std::int64_t i = 0; i + lanes <= n; i += lanes) store(d, Op::apply(d, load(d, a + i), parameter), out + i);
    store(d, end, out + n - lanes);
}

enum class Scalar : std::uint8_t { None, First, Second };

template <Scalar scalar, class Op, class T>
HWY_NOINLINE void both(const T* a, const T* b, T* out, std::int64_t n)
{
    const Wide<T> d;
    const std::int64_t lanes = wideLanes<T>();
    if (n < lanes) {
        T first[hn::MaxLanes(d)] = {}, second[hn::MaxLanes(d)] = {}, made[hn::MaxLanes(d)];
        std::copy(a, a + (scalar == Scalar::First ? 1 : n), first);
        std::copy(b, b + (scalar == Scalar::Second ? 1 : n), second);
        both<scalar, Op>(first, second, made, lanes);
        std::copy(made, made + n, out);
        return;
    }
    const auto same = hn::Set(d, widened(scalar == Scalar::First ? *a : *b));
    const auto apply = [&](std::int64_t i) HWY_ATTR {
        if constexpr (scalar == Scalar::First) return Op::apply(d, same, load(d, b + i));
        else if constexpr (scalar == Scalar::Second) return Op::apply(d, load(d, a + i), same);
        else return Op::apply(d, load(d, a + i), load(d, b + i));
    };
    const auto end = apply(n - lanes);
    for (std::int64_t i = 0; i + lanes <= n; i += lanes) store(d, apply(i), out + i);
    store(d, end, out + n - lanes);
}

// ---- one operator on all rows

template <class Op, class T>
void singles(const Rows<T>& a, double parameter, T* out, std::int64_t count)
{
    if (a.flat()) return single<Op>(a.base, parameter, out, count * a.width);
    for (std::int64_t i = 0; i < count; ++i) {
        a.prefetch(i, count);
        single<Op>(a[i], parameter, out + i * a.width, a.width);
    }
}

template <class T>
struct Pair {
    const Rows<T>&a, &b;
    const StripOperand &first, &second;  // how rows of a and b are repeated; at most one of them is
    T* out;
    std::int64_t count, width;
};

template <class Op, class T>
HWY_INLINE void pairRow(const Pair<T>& p, const T* a, const T* b, T* out)
{
    if (p.second.inner > 1) {
        for (std::int64_t at = 0; at < p.width; at += p.second.inner)
            both<Scalar::Second, Op>(a + at, b++, out + at, p.second.inner);
    } else if (p.first.inner > 1) {
        for (std::int64_t at = 0; at < p.width; at += p.first.inner)
            both<Scalar::First, Op>(a++, b + at, out + at, p.first.inner);
    } else {
        const std::int64_t part = std::min(p.a.width, p.b.width);
        const std::int64_t stepA = p.first.outer > 1 ? 0 : part, stepB = p.second.outer > 1 ? 0 : part;
        for (std::int64_t at = 0; at < p.width; at += part, a += stepA, b += stepB)
            both<Scalar::None, Op>(a, b, out + at, part);
    }
}

template <class Op, class T>
void pairs(const Pair<T>& p)
{
    const bool whole = p.a.width == p.width && p.b.width == p.width;
    if (whole && p.a.flat() && p.b.flat()) return both<Scalar::None, Op>(p.a.base, p.b.base, p.out, p.count * p.width);
    if (p.b.single() && p.a.flat() && p.a.width == p.width)
        return both<Scalar::Second, Op>(p.a.base, p.b.base, p.out, p.count * p.width);
    if (p.a.single() && p.b.flat() && p.b.width == p.width)
        return both<Scalar::First, Op>(p.a.base, p.b.base, p.out, p.count * p.width);
    for (std::int64_t i = 0; i < p.count; ++i) {
        p.a.prefetch(i, p.count);
        p.b.prefetch(i, p.count);
        pairRow<Op>(p, p.a[i], p.b[i], p.out + i * p.width);
    }
}

// Folds a vector in halves: its first half and its second, and so on.
template <class D>
HWY_INLINE hn::TFromD<D> folded([[maybe_unused]] D d, hn::Vec<D> sums)
{
#if HWY_TARGET != HWY_SCALAR
    if constexpr (hn::MaxLanes(d) > 1) {
        const hn::Half<D> half;
        return folded(half, hn::Add(hn::LowerHalf(half, sums), hn::UpperHalf(half, sums)));
    }
#endif
    return hn::GetLane(sums);
}

// Adds up elements 0, kRowSums, ... and those after them apart from each other, and folds these sums in halves. n is a
// multiple of kRowSums, a power of two.
template <int kRowSums, class T>
HWY_INLINE ComputeOf<T> foldedSum(const T* from, std::int64_t n)
{
    const hn::CappedTag<ComputeOf<T>, kRowSums> d;
    constexpr int kLanes = static_cast<int>(hn::MaxLanes(d)), kVectors = kRowSums / kLanes;
    hn::Vec<decltype(d)> sums[kVectors];
    for (int k = 0; k < kVectors; ++k) sums[k] = load(d, from + k * kLanes);
    for (std::int64_t i = kRowSums; i < n; i += kRowSums)
        for (int k = 0; k < kVectors; ++k) sums[k] = hn::Add(sums[k], load(d, from + i + k * kLanes));
    for (int left = kVectors / 2; left > 0; left /= 2)
        for (int k = 0; k < left; ++k) sums[k] = hn::Add(sums[k], sums[k + left]);
    return folded(d, sums[0]);
}

// The same order for every instruction set and on a GPU (rowSum() of strip_device.cuh).
template <class T>
HWY_INLINE T sumOf(const T* from, std::int64_t n)
{
    ComputeOf<T> all = 0;
    if (n >= 16) all += foldedSum<16>(from, n / 16 * 16);
    from += n / 16 * 16;
    n %= 16;
    for (; n >= 4; from += 4, n -= 4) all += foldedSum<4>(from, 4);
    for (; n > 0; ++from, --n) all += widened(*from);
    return narrowTo<T>(all);
}

template <class T>
void rowSums(const Rows<T>& a, T* out, std::int64_t count, std::int64_t width)
{
    const std::int64_t part = a.width / width;
    for (std::int64_t i = 0; i < count; ++i) {
        a.prefetch(i, count);
        const T* from = a[i];
        for (std::int64_t k = 0; k < width; ++k, from += part) *out++ = sumOf(from, part);
    }
}

// ---- aggregation

template <class T>
struct Messages {
    Rows<T> rows, factor;   // factor.width 0: none
    std::int64_t part = 1;  // elements of a row that share an element of the factor
    std::int64_t width = 0, count = 0;
    Combine combine = Combine::Sum;
    const T* const* next = nullptr;  // by message: the row that the next strip reads, prefetched meanwhile; null: none

    [[nodiscard]] bool sums() const { return combine == Combine::Sum || combine == Combine::Mean; }
    HWY_INLINE void prefetch(std::int64_t i) const
    {
        rows.prefetch(i, count);
        if (next != nullptr) hwy::Prefetch(next[i]);
    }
};

struct SumUp {
    template <class D, class V>
    static HWY_INLINE V apply(D, V sum, V value)
    {
        return hn::Add(sum, value);
    }
};

// The maximum. NaN takes precedence over everything, as in torch.amax.
struct Most {
    template <class D, class V>
    static HWY_INLINE V apply(D, V best, V value)
    {
        return hn::IfThenElse(hn::Or(hn::Gt(value, best), hn::IsNaN(value)), value, best);
    }
};

// How messages are scaled. With PerPart, a block lies within a part.
enum class Factor : std::uint8_t { None, PerPart, PerElement };

// Positions [begin, end) and the columns from `at` on, in consecutive vectors. Only the last vector begins at at + last
// and may overlap the previous one; both compute the same results there.
template <class T>
struct Block {
    const Messages<T>& m;
    std::int64_t begin, end, at, last = 0;
};

template <class T, class D>
HWY_INLINE hn::Vec<D> signedAs(D, const Messages<T>& m, hn::Vec<D> value)
{
    return m.combine == Combine::Min ? hn::Neg(value) : value;
}

template <class Step, Factor factor, int kCount, class T, class D>
HWY_NOINLINE void addBlock(D d, const Block<T>& b, ComputeOf<T>* sums)
{
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const Messages<T>& m = b.m;
    const auto place = [&](int k) HWY_ATTR { return b.at + (k + 1 < kCount ? k * lanes : b.last); };
    hn::Vec<D> state[kCount];
    for (int k = 0; k < kCount; ++k) state[k] = hn::LoadU(d, sums + place(k));
    for (std::int64_t i = b.begin; i < b.end; ++i) {
        if (b.at == 0) m.prefetch(i);
        const T* const row = m.rows[i];
        const auto weight = hn::Set(d, factor == Factor::PerPart ? widened(m.factor[i][b.at / m.part]) : 1);
        for (int k = 0; k < kCount; ++k) {
            auto value = load(d, row + place(k));
            if constexpr (factor == Factor::PerPart) value = hn::Mul(weight, value);
            if constexpr (factor == Factor::PerElement) value = hn::Mul(load(d, m.factor[i] + place(k)), value);
            if constexpr (std::is_same_v<Step, Most>) value = signedAs(d, m, value);
            state[k] = Step::apply(d, state[k], value);
        }
    }
    for (int k = 0; k < kCount; ++k) hn::StoreU(state[k], d, sums + place(k));
}

// Processes fewer columns than a vector has elements.
template <class Step, Factor factor, class T>
void addFew(Block<T> b, std::int64_t end, ComputeOf<T>* sums)
{
    const hn::CappedTag<ComputeOf<T>, 4> four;
    const hn::CappedTag<ComputeOf<T>, 2> two;
    const hn::CappedTag<ComputeOf<T>, 1> one;
    const auto lanes = [](auto d) { return static_cast<std::int64_t>(hn::Lanes(d)); };
    for (; b.at + lanes(four) <= end; b.at += lanes(four)) addBlock<Step, factor, 1>(four, b, sums);
    for (; b.at + lanes(two) <= end; b.at += lanes(two)) addBlock<Step, factor, 1>(two, b, sums);
    for (; b.at < end; ++b.at) addBlock<Step, factor, 1>(one, b, sums);
}

// Processes columns [at, end). If an element of the factor is shared, they must all share the same one. Rows are read
// once for up to eight vectors; no block leaves less than a vector for the next one.
template <class Step, Factor factor, class T>
void addColumns(Block<T> b, std::int64_t end, ComputeOf<T>* sums)
{
    const Wide<T> d;
    const std::int64_t lanes = wideLanes<T>();
    if (end - b.at < lanes) return addFew<Step, factor>(b, end, sums);
    while (end - b.at == 8 * lanes || end - b.at >= 9 * lanes) {
        b.last = 7 * lanes;
        addBlock<Step, factor, 8>(d, b, sums);
        b.at += 8 * lanes;
    }
    while (end - b.at > 4 * lanes) {
        const bool more = end - b.at >= 5 * lanes;
        b.last = more ? 3 * lanes : lanes;
        if (more) addBlock<Step, factor, 4>(d, b, sums);
        else addBlock<Step, factor, 2>(d, b, sums);
        b.at += b.last + lanes;
    }
    b.last = end - b.at - lanes;
    if (b.at == end) return;
    if (b.last == 0) return addBlock<Step, factor, 1>(d, b, sums);
    if (b.last <= lanes) return addBlock<Step, factor, 2>(d, b, sums);
    if (b.last <= 2 * lanes) return addBlock<Step, factor, 3>(d, b, sums);
    addBlock<Step, factor, 4>(d, b, sums);
}

// Processes the columns of several parts, in vectors that each lie within one part. Rows are read once for up to eight
// vectors instead of once for each part.
template <int kCount, class T>
HWY_NOINLINE void addVectors(const Messages<T>& m, std::int64_t begin, std::int64_t end, const std::int64_t* places,
                             ComputeOf<T>* sums)
{
    const Wide<T> d;
    std::int64_t part[kCount];
    hn::Vec<Wide<T>> state[kCount];
    for (int k = 0; k < kCount; ++k) {
        state[k] = hn::LoadU(d, sums + places[k]);
        part[k] = places[k] / m.part;
    }
    for (std::int64_t i = begin; i < end; ++i) {
        if (places[0] == 0) m.prefetch(i);
        const T *const row = m.rows[i], *const weights = m.factor[i];
        for (int k = 0; k < kCount; ++k) {
            const auto weight = hn::Set(d, widened(weights[part[k]]));
            state[k] = hn::Add(state[k], hn::Mul(weight, load(d, row + places[k])));
        }
    }
    for (int k = 0; k < kCount; ++k) hn::StoreU(state[k], d, sums + places[k]);
}

template <class T>
void addVectors(const Messages<T>& m, std::int64_t begin, std::int64_t end, const std::int64_t* places, int count,
                ComputeOf<T>* sums)
{
    switch (count) {
    case 1: return addVectors<1>(m, begin, end, places, sums);
    case 2: return addVectors<2>(m, begin, end, places, sums);
    case 3: return addVectors<3>(m, begin, end, places, sums);
    case 4: return addVectors<4>(m, begin, end, places, sums);
    case 5: return addVectors<5>(m, begin, end, places, sums);
    case 6: return addVectors<6>(m, begin, end, places, sums);
    case 7: return addVectors<7>(m, begin, end, places, sums);
    default: return addVectors<8>(m, begin, end, places, sums);
    }
}

// The last vector of a part may overlap the previous one, so both belong to one pass and compute the same results
// there.
template <class T>
void addParts(const Messages<T>& m, std::int64_t begin, std::int64_t end, ComputeOf<T>* sums)
{
    const std::int64_t lanes = wideLanes<T>(), vectors = (m.part + lanes - 1) / lanes;
    std::int64_t places[kMostVectors];
    int count = 0;
    for (std::int64_t at = 0; at < m.width; at += m.part) {
        if (count + vectors > kMostVectors) addVectors(m, begin, end, places, std::exchange(count, 0), sums);
        for (std::int64_t v = 0; v < vectors; ++v) places[count++] = at + std::min(v * lanes, m.part - lanes);
    }
    addVectors(m, begin, end, places, count, sums);
}

template <class T>
void accumulate(const Messages<T>& m, std::int64_t begin, std::int64_t end, ComputeOf<T>* sums)
{
    const Block<T> b{m, begin, end, 0};
    if (!m.sums()) return addColumns<Most, Factor::None>(b, m.width, sums);
    if (m.factor.width == 0) return addColumns<SumUp, Factor::None>(b, m.width, sums);
    if (m.part == 1) return addColumns<SumUp, Factor::PerElement>(b, m.width, sums);
    if (m.part < m.width && m.part >= wideLanes<T>() && m.part <= kMostVectors * wideLanes<T>())
        return addParts(m, begin, end, sums);
    for (std::int64_t at = 0; at < m.width; at += m.part)
        addColumns<SumUp, Factor::PerPart>(Block<T>{m, begin, end, at}, at + m.part, sums);
}

template <class T>
void start(const Messages<T>& m, ComputeOf<T>* sums)
{
    using C = ComputeOf<T>;
    std::fill(sums, sums + m.width, m.sums() ? C(0) : -std::numeric_limits<C>::infinity());
}

// Merges `sums` into `all`. For Min, both are maxima of negated values.
template <class T>
void addSums(const Messages<T>& m, const ComputeOf<T>* sums, ComputeOf<T>* all)
{
    for (std::int64_t c = 0; c < m.width; ++c) {
        const auto value = sums[c];
        if (m.sums()) all[c] += value;
        else if (value > all[c] || value != value) all[c] = value;
    }
}

template <class T>
void finish(const Messages<T>& m, const ComputeOf<T>* sums, std::int64_t degree, T* out)
{
    using C = ComputeOf<T>;
    for (std::int64_t c = 0; c < m.width; ++c) {
        C value = sums[c];
        if (m.combine == Combine::Mean) value /= static_cast<C>(degree);
        if (m.combine == Combine::Min) value = -value;
        out[c] = narrowTo<T>(value);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace hopscope::kernels
HWY_AFTER_NAMESPACE();

#endif
