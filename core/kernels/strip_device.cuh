#pragma once

// Device code of strips: arithmetic that rounds one operation at a time, so that results equal those of stripCpu bit
// for bit, and the interpreter. A group of threads, within a warp, computes one destination or one piece of a hub.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

#include "kernels/elements_device.cuh"
#include "kernels/group_device.cuh"
#include "kernels/strip_launch.h"

namespace hopscope::kernels {

namespace {

__device__ inline double widen(double value) { return value; }
__device__ inline void narrow(double value, double& to) { to = value; }

template <class T>
using ComputeOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

__device__ inline float times(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double times(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float divided(float a, float b) { return __fdiv_rn(a, b); }
__device__ inline double divided(double a, double b) { return __ddiv_rn(a, b); }
__device__ inline float root(float a) { return __fsqrt_rn(a); }
__device__ inline double root(double a) { return __dsqrt_rn(a); }
__device__ inline std::uint32_t bitsOf(float a) { return __float_as_uint(a); }
__device__ inline std::uint64_t bitsOf(double a) { return static_cast<std::uint64_t>(__double_as_longlong(a)); }
__device__ inline float ofBits(std::uint32_t bits) { return __uint_as_float(bits); }
__device__ inline double ofBits(std::uint64_t bits) { return __longlong_as_double(static_cast<long long>(bits)); }

// The arithmetic of the formulas.
template <class C>
struct NumberMath {
    using V = C;
    using Number = C;

    __device__ static C set(C value) { return value; }
    __device__ static C infinity() { return static_cast<C>(__builtin_huge_val()); }
    __device__ static C add(C a, C b) { return added(a, b); }
    __device__ static C sub(C a, C b) { return added(a, -b); }
    __device__ static C mul(C a, C b) { return times(a, b); }
    __device__ static C div(C a, C b) { return divided(a, b); }
    __device__ static C neg(C a) { return -a; }
    __device__ static C abs(C a) { return ofBits(bitsOf(a) << 1 >> 1); }
    __device__ static C min(C a, C b) { return a < b ? a : b; }
    __device__ static C max(C a, C b) { return a > b ? a : b; }
    __device__ static bool less(C a, C b) { return a < b; }
    __device__ static bool lessOrEqual(C a, C b) { return a <= b; }
    __device__ static bool isNaN(C a) { return a != a; }
    __device__ static C select(bool which, C yes, C no) { return which ? yes : no; }
    __device__ static C withSign(C a, C sign)
    {
        constexpr int last = 8 * sizeof(C) - 1;
        return ofBits(bitsOf(a) | bitsOf(sign) >> last << last);
    }
    __device__ static C plusBits(C a, C b) { return ofBits(bitsOf(a) + bitsOf(b)); }
    template <int count>
    __device__ static C shiftLeft(C a)
    {
        return ofBits(bitsOf(a) << count);
    }
};

#undef HOPSCOPE_FORMULA
#define HOPSCOPE_FORMULA __device__ inline
#include "kernels/strip_formulas_inl.h"

template <class C>
__device__ C computed(StripOp op, C a, C b, C parameter)
{
    using A = NumberMath<C>;
    switch (op) {
    case StripOp::Add: return A::add(a, b);
    case StripOp::Sub: return A::sub(a, b);
    case StripOp::Mul: return A::mul(a, b);
    case StripOp::Div: return A::div(a, b);
    case StripOp::Neg: return -a;
    case StripOp::Abs: return A::abs(a);
    case StripOp::Sqrt: return root(a);
    case StripOp::Relu: return a < 0 ? C(0) : a;
    case StripOp::LeakyRelu: return a > 0 ? a : A::mul(a, parameter);
    case StripOp::Exp: return formulaExp<A>(a);
    case StripOp::Sigmoid: return formulaSigmoid<A>(a);
    case StripOp::Tanh: return formulaTanh<A>(a);
    case StripOp::Silu: return formulaSilu<A>(a);
    case StripOp::Softplus: return formulaSoftplus<A>(a);
    default: return a;
    }
}

// ---- rows that a step reads

// Element c of the result's row i is element c / inner, or c modulo the width, of row i: at a constant distance, or by
// number.
template <class T>
struct Source {
    const T* base = nullptr;
    std::int64_t stride = 0;
    Index columns;
    HostRows host;
    int width = 1, inner = 1;

    __device__ const T* row(int i) const
    {
        return columns.data != nullptr ? rowAt(base, host, kernels::number(columns, i), stride) : base + i * stride;
    }
    __device__ ComputeOf<T> at(int i, int c) const
    {
        const int place = inner > 1 ? c / inner : c < width ? c : c % width;
        return widen(row(i)[place]);
    }
};

constexpr int kAtOnce = 4;  // elements of a thread whose loads are on their way at the same time

template <class T>
class Strip {
public:
    using C = ComputeOf<T>;

    __device__ Strip(const StripLaunch& launch, const Group& group, std::byte* memory)
        : m_l(launch),
          m_group(group),
          m_edges(memory),
          m_sums(memory + launch.edgeBytes),
          m_rows(memory + launch.edgeBytes + launch.sumBytes),
          m_first(number(launch.offsets, 0))
    {}

    // Leaves hubs to the functions below.
    __device__ void destination(std::int64_t d)
    {
        m_d = d;
        const std::int64_t begin = number(m_l.offsets, d), end = number(m_l.offsets, d + 1);
        if (end - begin > kPiece) return;
        if (end - begin <= m_l.rows) {
            m_begin = begin;
            m_inPhases = false;
            for (int s = 0; s < m_l.stepCount; ++s) whole(m_l.steps[s], static_cast<int>(end - begin));
            return;
        }
        for (std::uint32_t phase = 1; phase != 0 && phase <= m_l.phases; phase <<= 1) {
            walk(begin, end, phase);
            for (int s = 0; s < m_l.stepCount; ++s)
                if ((m_l.steps[s].phases & phase) != 0) onDestination(m_l.steps[s], end - begin);
        }
    }

    // Adds up one piece of a hub.
    __device__ void piece(std::int64_t at, std::uint32_t phase)
    {
        const HubPiece p = m_l.pieces[at];
        m_d = p.destination - m_l.pieceFirst;
        m_sums = m_l.work + at * m_l.sumBytes;
        m_rows = hubRows(at - (p.begin - number(m_l.offsets, m_d)) / kPiece);
        walk(p.begin, p.end, phase);
    }

    // The rest of a phase for a hub, given its first piece.
    __device__ void hub(std::int64_t first, std::uint32_t phase)
    {
        m_d = m_l.pieces[first].destination - m_l.pieceFirst;
        const std::int64_t begin = number(m_l.offsets, m_d), end = number(m_l.offsets, m_d + 1);
        if (m_l.pieces[first].begin != begin) return;
        m_rows = hubRows(first);
        const std::int64_t last = first + (end - begin + kPiece - 1) / kPiece;
        for (int s = 0; s < m_l.stepCount; ++s) {
            const LaunchStep& step = m_l.steps[s];
            if ((step.phases & phase) == 0) continue;
            if (step.op == StripOp::Aggregate) merge(step, first, last);
            onDestination(step, end - begin);
        }
    }

private:
    // ---- whole destinations, and parts of them

    __device__ void whole(const LaunchStep& s, int count)
    {
        if (s.op != StripOp::Aggregate) return compute(s, s.perDestination ? 1 : count);
        if (count == 0) return fill(s);
        start(s);
        accumulate(s, count);
        finish(s, count);
    }

    // The steps on edges of a phase, strip by strip.
    __device__ void walk(std::int64_t begin, std::int64_t end, std::uint32_t phase)
    {
        m_inPhases = true;
        for (int s = 0; s < m_l.stepCount; ++s)
            if (m_l.steps[s].op == StripOp::Aggregate && (m_l.steps[s].phases & phase) != 0) start(m_l.steps[s]);
        for (m_begin = begin; m_begin < end; m_begin += m_l.rows) {
            const int count = static_cast<int>(end - m_begin < m_l.rows ? end - m_begin : m_l.rows);
            for (int s = 0; s < m_l.stepCount; ++s) {
                const LaunchStep& step = m_l.steps[s];
                if (step.perDestination || (step.phases & phase) == 0) continue;
                if (step.op == StripOp::Aggregate) accumulate(step, count);
                else compute(step, count);
            }
        }
    }

    __device__ void onDestination(const LaunchStep& s, std::int64_t degree)
    {
        if (s.perDestination) compute(s, 1);
        else if (s.op == StripOp::Aggregate) finish(s, degree);
    }

    // ---- where rows lie

    __device__ T* edgeBuffer(int at) const
    {
        const LaunchBuffer& b = m_l.edges[at];
        if (m_inPhases && b.out != nullptr) return static_cast<T*>(b.out) + (m_begin - m_first) * b.width;
        return reinterpret_cast<T*>(m_edges + b.at);
    }

    __device__ T* destinationRow(int at) const
    {
        const LaunchBuffer& b = m_l.destinations[at];
        if (b.out != nullptr) return static_cast<T*>(b.out) + m_d * b.width;
        return reinterpret_cast<T*>(m_rows + b.at);
    }

    __device__ std::byte* hubRows(std::int64_t piece) const
    {
        return m_l.work + m_l.pieceCount * m_l.sumBytes + piece * m_l.rowBytes;
    }

    __device__ C* sums(const LaunchStep& s) const { return reinterpret_cast<C*>(m_sums + s.sums); }

    __device__ Source<T> source(const LaunchOperand& o) const
    {
        Source<T> rows;
        rows.width = o.width;
        rows.inner = o.inner;
        if (o.from == StripOperand::From::Edge) {
            rows.base = edgeBuffer(o.at);
            rows.stride = o.width;
        } else if (o.from == StripOperand::From::Destination) {
            rows.base = destinationRow(o.at);
        } else if (o.from == StripOperand::From::Table) {
            inTable(m_l.tables[o.at], rows);
        }
        return rows;
    }

    __device__ void inTable(const LaunchTable& t, Source<T>& rows) const
    {
        rows.base = static_cast<const T*>(t.data);
        if (t.rows == StripRows::Destinations) rows.base += (m_d - t.first) * t.stride;
        if (t.rows != StripRows::Edges && t.rows != StripRows::Gathered) return;
        rows.stride = t.stride;
        const std::int64_t at = m_begin - t.first;
        if (t.rows == StripRows::Edges) {
            rows.base += at * t.stride;
        } else {
            if (t.host >= 0) rows.host = m_l.hosts[t.host];
            rows.columns.wide = t.wide;
            rows.columns.data = static_cast<const std::byte*>(t.columns) + at * (t.wide ? 8 : 4);
        }
    }

    // ---- steps

    // On `count` rows of edges, or on the row of the destination. The result may overwrite an operand, element by
    // element.
    __device__ void compute(const LaunchStep& s, int count) const
    {
        if (s.op == StripOp::RowSum) return sumRows(s, count);
        T* const out = s.perDestination ? destinationRow(s.to) : edgeBuffer(s.to);
        const Source<T> a = source(s.a), b = source(s.b);
        const bool two = s.b.from != StripOperand::From::None;
        const int all = count * s.width;
        m_group.turn([&](int lane) {
            for (int first = lane; first < all; first += kAtOnce * m_group.lanes) {
                C x[kAtOnce], y[kAtOnce];
#pragma unroll
                for (int u = 0; u < kAtOnce; ++u) {
                    const int at = element(first, u, all), i = at / s.width;
                    x[u] = a.at(i, at - i * s.width);
                    y[u] = two ? b.at(i, at - i * s.width) : C(0);
                }
#pragma unroll
                for (int u = 0; u < kAtOnce; ++u)
                    if (const int at = element(first, u, all); u == 0 || at != first)
                        narrow(computed(s.op, x[u], y[u], static_cast<C>(s.parameter)), out[at]);
            }
        });
    }

    // The thread's uth element from `first` on; beyond the last one, `first` itself.
    __device__ int element(int first, int u, int all) const
    {
        const int at = first + u * m_group.lanes;
        return at < all ? at : first;
    }

    // In the order of sumOf() of strip_loops_inl.h.
    __device__ void sumRows(const LaunchStep& s, int count) const
    {
        T* const out = s.perDestination ? destinationRow(s.to) : edgeBuffer(s.to);
        const Source<T> a = source(s.a);
        const int part = s.a.width / s.width, whole = part / 16 * 16, all = count * s.width;
        const auto from = [&](int at) { return a.row(at / s.width) + at % s.width * part; };
        const auto rest = [&](C sum, const T* tail, int n) {
            for (; n >= 4; tail += 4, n -= 4) {
                const C even = added(widen(tail[0]), widen(tail[2])), odd = added(widen(tail[1]), widen(tail[3]));
                sum = added(sum, added(even, odd));
            }
            for (; n > 0; ++tail, --n) sum = added(sum, widen(*tail));
            return sum;
        };
        if (whole == 0) {
            m_group.turn([&](int lane) {
                for (int at = lane; at < all; at += m_group.lanes) narrow(rest(C(0), from(at), part), out[at]);
            });
            return;
        }
        m_group.template folds<C>(
            all,
            [&](int at, int k) {
                const T* const row = from(at);
                C sum = widen(row[k]);
                for (int c = k + 16; c < whole; c += 16) sum = added(sum, widen(row[c]));
                return sum;
            },
            [&](int at, C sum) { narrow(rest(added(C(0), sum), from(at) + whole, part - whole), out[at]); });
    }

    // ---- aggregations

    __device__ static bool adds(const LaunchStep& s) { return s.combine == Combine::Sum || s.combine == Combine::Mean; }

    __device__ static C startOf(const LaunchStep& s)
    {
        if (adds(s)) return 0;
        return static_cast<C>(s.combine == Combine::Max ? -__builtin_huge_val() : __builtin_huge_val());
    }

    __device__ static C combined(const LaunchStep& s, C all, C value)
    {
        if (adds(s)) return added(all, value);
        const bool better = s.combine == Combine::Max ? value > all : value < all;
        return better || value != value ? value : all;
    }

    __device__ void start(const LaunchStep& s) const
    {
        C* const to = sums(s);
        m_group.turn([&](int lane) {
            for (int c = lane; c < s.width; c += m_group.lanes) to[c] = startOf(s);
        });
    }

    // The rows of edges, in order.
    __device__ void accumulate(const LaunchStep& s, int count) const
    {
        C* const to = sums(s);
        const Source<T> a = source(s.a), b = source(s.b);
        const bool scaled = s.b.from != StripOperand::From::None;
        m_group.turn([&](int lane) {
            for (int c = lane; c < s.width; c += m_group.lanes) {
                C all = to[c];
                for (int first = 0; first < count; first += kAtOnce) {
                    C values[kAtOnce];
#pragma unroll
                    for (int u = 0; u < kAtOnce; ++u) {
                        const int i = first + u < count ? first + u : count - 1;
                        values[u] = a.at(i, c);
                        if (scaled) values[u] = times(b.at(i, c), values[u]);
                    }
#pragma unroll
                    for (int u = 0; u < kAtOnce; ++u)
                        if (first + u < count) all = combined(s, all, values[u]);
                }
                to[c] = all;
            }
        });
    }

    __device__ void finish(const LaunchStep& s, std::int64_t degree) const
    {
        const C* const from = sums(s);
        T* const out = destinationRow(s.to);
        m_group.turn([&](int lane) {
            for (int c = lane; c < s.width; c += m_group.lanes)
                narrow(s.combine == Combine::Mean ? divided(from[c], static_cast<C>(degree)) : from[c], out[c]);
        });
    }

    __device__ void fill(const LaunchStep& s) const
    {
        T* const out = destinationRow(s.to);
        m_group.turn([&](int lane) {
            for (int c = lane; c < s.width; c += m_group.lanes) narrow(static_cast<C>(s.empty), out[c]);
        });
    }

    // The sums of a hub's pieces, in order.
    __device__ void merge(const LaunchStep& s, std::int64_t first, std::int64_t last) const
    {
        C* const to = sums(s);
        m_group.turn([&](int lane) {
            for (int c = lane; c < s.width; c += m_group.lanes) {
                C all = startOf(s);
                for (std::int64_t i = first; i < last; ++i)
                    all = combined(s, all, reinterpret_cast<const C*>(m_l.work + i * m_l.sumBytes + s.sums)[c]);
                to[c] = all;
            }
        });
    }

    const StripLaunch& m_l;
    const Group& m_group;
    std::byte *m_edges, *m_sums, *m_rows;
    std::int64_t m_first;               // position of all
    std::int64_t m_d = 0, m_begin = 0;  // the destination, and the first position of the strip
    bool m_inPhases = false;            // not all steps at once
};

// ---- kernels

// The memory of a group: a part of its block's shared memory, or of `work`.
__device__ inline std::byte* memoryOf(const StripLaunch& l, const Group& group, std::byte* shared)
{
    if (!l.shared) return l.work + l.hubBytes + group.number * l.groupBytes;
    return shared + threadIdx.x / static_cast<unsigned>(l.lanes) * l.groupBytes;
}

// One destination after the other, except for hubs.
template <class T>
__global__ void __launch_bounds__(kLaunchThreads) stripKernel(const __grid_constant__ StripLaunch l)
{
    HOPSCOPE_SHARED(memory);
    const Group group(l);
    if (group.idle()) return;
    Strip<T> strip(l, group, memoryOf(l, group, memory));
    for (std::int64_t d = group.number; d < l.count; d += group.all) strip.destination(d);
}

// The pieces of hubs.
template <class T>
__global__ void __launch_bounds__(kLaunchThreads)
    stripPieceKernel(const __grid_constant__ StripLaunch l, std::uint32_t phase)
{
    HOPSCOPE_SHARED(memory);
    const Group group(l);
    if (group.idle()) return;
    Strip<T> strip(l, group, memoryOf(l, group, memory));
    for (std::int64_t at = group.number; at < l.pieceCount; at += group.all) strip.piece(at, phase);
}

// Hubs, by the groups that meet their first pieces.
template <class T>
__global__ void __launch_bounds__(kLaunchThreads)
    stripHubKernel(const __grid_constant__ StripLaunch l, std::uint32_t phase)
{
    HOPSCOPE_SHARED(memory);
    const Group group(l);
    if (group.idle()) return;
    Strip<T> strip(l, group, memoryOf(l, group, memory));
    for (std::int64_t at = group.number; at < l.pieceCount; at += group.all) strip.hub(at, phase);
}

}  // namespace

}  // namespace hopscope::kernels
